//! The histories, by rule.

use super::history;

macro_rules! histories {
    ($($name:ident: $script:literal;)*) => {
        $(#[test] fn $name() { history(stringify!($name), $script); })*
    };
}

histories! {
    // Rule 1: moving.
    rule_1_latest_follows_each_delivered_event: "
        connect live
        ev 1..3 => D
        latest 3
        newest 3
    ";
    rule_1_an_event_without_an_id_of_its_own_moves_nothing: "
        connect live
        ev 1 => D
        ev _=hello => D
        dispatch 1
        latest 1
    ";
    rule_1_a_removed_duplicate_moves_no_cursor: "
        connect live
        ev 1..5 => D
        end
        connect 5
        ev 3..5 => -
        latest 5
        ev 6 => D
        latest 6
    ";
    rule_1_an_id_only_block_moves_latest: "
        connect live
        ev 1 => D
        idonly 7
        latest 7
        newest 1
        end
        connect 7
    ";
    rule_1_an_id_only_block_moves_nothing_while_a_gap_is_open: "
        connect live
        ev 1..5 => D
        comment dropped 3 events
        idonly 9
        latest 5
    ";
    rule_1_an_id_only_block_moves_nothing_until_a_reread_has_met_newest: "
        set window 60s
        connect live
        ev 1..5 => D
        idonly 6
        latest 6
        ev 7 => D
        end
        wait 100s
        restart
        connect 6
        idonly 6
        latest 7
        ev 7 => -
        idonly 8
        latest 8
    ";

    // Rule 2: lagging.
    rule_2_before_a_window_lagging_is_the_first_id: "
        connect live
        ev 11..20 => D
        lagging 11
    ";
    rule_2_before_a_window_lagging_is_the_id_it_was_started_from: "
        set initial 10
        connect 10
        ev 11..20 => D
        lagging 10
    ";
    rule_2_lagging_is_the_newest_id_a_window_old: "
        set window 60s
        connect live
        ev 1..5 => D
        wait 61s
        ev 6 => D
        lagging 5
    ";
    rule_2_lagging_is_an_id_after_which_another_was_delivered: "
        set window 60s
        connect live
        ev 1..5 => D
        wait 100s
        ev _=x => D
        lagging 4
    ";
    rule_2_marks_survive_a_restart: "
        set window 60s
        connect live
        ev 1..5 => D
        wait 30s
        ev 6..9 => D
        crash
        wait 31s
        connect 9
        ev 10 => D
        lagging 5
        wait 30s
        ev 11 => D
        lagging 9
    ";
    rule_2_lagging_stands_still_while_a_gap_is_open: "
        set window 60s
        set cooldown 600s
        connect live
        ev 1..5 => D
        comment dropped 1 events
        ev 7 => H>
        connect 1
        ev 2..5 => -
        ev 6 => R
        ev 7 => D
        comment dropped 1 events
        wait 100s
        ev 9..20 => D
        lagging 1
    ";

    // Rule 3: choosing.
    rule_3_a_reconnect_goes_from_this_processes_own_position: "
        connect live
        ev 1..3 => D
        end
        connect 3
    ";
    rule_3_resume_goes_from_stored_latest: "
        connect live
        ev 1..3 => D
        crash
        connect 3
    ";
    rule_3_tail_starts_at_live_and_then_follows_its_own: "
        set follow tail
        connect live
        ev 1..3 => D
        end
        connect 3
        ev 4 => D
        restart
        connect live
        ev 9 => D
        latest 9
        lagging 9
    ";
    rule_3_last_event_id_comes_before_all_at_the_first_connection: "
        set start 50
        connect 50
        ev 51 => D
        latest 51
        end
        connect 51
    ";
    rule_3_within_the_cooldown_a_reconnect_goes_from_newest: "
        connect live
        ev 1..5 => D
        comment dropped 1 events
        ev 7 => H>
        connect 1
        ev 2..5 => -
        ev 6 => R
        ev 7 => D
        comment dropped 2 events
        ev 10 => D
        latest 7
        end
        connect 10
        latest 7
    ";
    rule_3_a_lost_recovery_goes_on_from_its_progress: "
        connect live
        ev 1..9 => D
        comment dropped 3 events
        ev 13 => H>
        connect 1
        ev 2..5 => -
        end
        connect 5
        ev 6..9 => -
        ev 10..12 => R
        ev 13 => D
        gap recovered 3 3
    ";
    rule_3_progress_survives_a_crash: "
        connect live
        ev 1..9 => D
        comment dropped 3 events
        ev 13 => H>
        connect 1
        ev 2..5 => -
        crash
        connect 5
        ev 6..9 => -
        ev 10..12 => R
        wait 0s
        gap recovered 3 3
        ev 13 => D
        latest 13
    ";
    rule_3_after_a_silent_window_the_first_connection_must_show_a_known_event: "
        set window 60s
        connect live
        ev 1..5 => D
        end
        wait 100s
        restart
        connect 4
        ev 5 => -
        ev 6 => D
        latest 6
    ";
    rule_3_after_a_silent_window_an_unknown_first_event_means_expired: "
        set window 60s
        connect live
        ev 1..5 => D
        end
        wait 100s
        restart
        connect 4
        ev 90 => X!
        latest 5
        notices cursor-expired
    ";
    rule_3_after_a_silent_window_a_hole_before_the_newest_is_no_expiry: "
        set window 60s
        connect live
        ev 1..3 => D
        ev 9 => D
        end
        wait 100s
        restart
        connect 3
        ev 4..8 => D
        ev 9 => -
        ev 10 => D
        latest 10
    ";
    rule_3_after_a_silent_window_expired_may_go_on_live: "
        set window 60s
        set on-expired live
        connect live
        ev 1..5 => D
        end
        wait 100s
        restart
        connect 4
        ev 90 => D
        ev 91 => D
        latest 91
    ";

    // Rule 4: losing.
    rule_4_a_notice_freezes_latest_and_holds_the_far_side: "
        connect live
        ev 1..5 => D
        comment you are reading too slowly, dropped 2 messages
        gap open 0 2
        ev _=x => D
        ev 8 => H>
        latest 5
        newest 5
        connect 1
        ev 2..5 => -
        latest 5
        ev 6..7 => R
        latest 7
        ev 8 => D
        gap recovered 2 2
        notices drop-notice recovery-started recovery-finished
        lost false
    ";
    rule_4_without_a_next_event_the_connection_is_left_after_a_second: "
        connect live
        ev 1..5 => D
        comment dropped 2 events
        wait 1s => >
        connect 1
        ev 2..5 => -
        ev 6..7 => R
        wait 0s
        gap recovered 2 2
        ev 8 => D
    ";
    rule_4_within_the_cooldown_delivery_goes_on_and_moves_newest_alone: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 1 events
        ev 7 => H>
        connect 1
        ev 2..5 => -
        ev 6 => R
        ev 7 => D
        wait 10s
        comment dropped 2 events
        ev 10..11 => D
        comment dropped 3 events
        ev 15 => D
        latest 7
        newest 15
        gap open 0 5
        wait 50s => >
        connect 1
        ev 2..7 => -
        ev 8..9 => R
        ev 10..11 => -
        ev 12..14 => R
        ev 15 => -
        latest 15
        wait 0s
        gap recovered 5 5
    ";
    rule_4_a_notice_inside_data_is_none: "
        connect live
        ev 1=lagged_42 => D
        ev 2=dropped => D
        latest 2
        nogap
    ";
    rule_4_a_count_of_zero_is_none: "
        connect live
        ev 1 => D
        comment dropped 0 events
        nogap
    ";
    rule_4_a_drop_event_counts_and_its_own_id_does_not_pass_the_hole: "
        connect live
        ev 1..5 => D
        ev 8=2:lagged => D
        latest 5
        gap open 0 2
        ev 9 => H>
        connect 1
        ev 2..5 => -
        ev 6..7 => R
        ev 8=2:lagged => -
        ev 9 => D
        gap recovered 2 2
    ";
    rule_4_a_drop_event_that_was_delivered_before_is_no_notice: "
        connect live
        ev 1 => D
        ev 2=3:lagged => D
        ev 6 => H>
        connect 1
        ev 2=3:lagged => -
        ev 3..5 => R
        ev 6 => D
        gap recovered 3 3
        nogap
    ";
    rule_4_on_a_stream_without_ids_the_gap_is_unrecoverable_at_once: "
        connect live
        ev _=x => D
        comment dropped 2 events
        ev _=y => D
        gap unrecoverable 0 2
        lost true
        notices drop-notice gap-unrecoverable
    ";
    rule_4_warn_freezes_nothing: "
        set on-drop warn
        connect live
        ev 1..5 => D
        comment dropped 2 events
        ev 8 => D
        latest 8
        gap ignored 0 2
        lost true
    ";
    rule_4_exit_leaves_the_gap_open_for_the_next_run: "
        set on-drop exit
        connect live
        ev 1..5 => D
        comment dropped 2 events => !
        gap open 0 2
        restart
        connect 1
        ev 2..5 => -
        ev 6..7 => R
        wait 0s
        gap recovered 2 2
    ";
    rule_4_without_reconnect_resume_leaves_the_gap_open: "
        set reconnect no
        connect live
        ev 1..5 => D
        comment dropped 2 events
        wait 10s
        ev 8 => D
        latest 5
        gap open 0 2
    ";
    rule_4_without_reconnect_tail_reports_as_with_warn: "
        set follow tail
        set reconnect no
        connect live
        ev 1..5 => D
        comment dropped 2 events
        ev 8 => D
        latest 8
        gap ignored 0 2
    ";

    // Rule 5: recovery.
    rule_5_if_nothing_was_delivered_after_lagging_it_is_a_plain_reconnect: "
        connect live
        ev 1 => D
        comment dropped 2 events
        ev 4 => H>
        connect 1
        ev 2..3 => R
        latest 3
        ev 4 => D
        gap recovered 2 2
    ";
    rule_5_a_plain_reconnect_from_the_start_id: "
        set initial 10
        connect 10
        comment dropped 2 events
        ev 13 => H>
        connect 10
        ev 11..12 => R
        ev 13 => D
        gap recovered 2 2
        latest 13
    ";
    rule_5_when_newest_is_met_latest_moves_with_the_connection: "
        connect live
        ev 1..5 => D
        comment dropped 4 events
        ev 10 => H>
        connect 1
        ev 2..5 => -
        ev 6..7 => R
        latest 7
        crash
        connect 7
        ev 8..9 => R
        wait 0s
        gap recovered 4 4
    ";
    rule_5_a_lost_connection_in_the_report_goes_on_with_it: "
        connect live
        ev 1..5 => D
        comment dropped 4 events
        ev 10 => H>
        connect 1
        ev 2..5 => -
        ev 6..7 => R
        end
        wait 30s
        connect 7
        ev 8..9 => R
        ev 10 => D
        gap recovered 4 4
    ";
    rule_5_fewer_than_announced_is_partial: "
        connect live
        ev 1..5 => D
        comment dropped 4 events
        ev 10 => H>
        connect 1
        ev 2..5 => -
        ev 8..9 => R
        ev 10 => D
        gap partial 2 4
        lost true
    ";
    rule_5_without_a_far_side_or_a_count_a_second_of_silence_ends_the_report: "
        connect live
        ev 1..5 => D
        comment lagged: reconnect with ?after_seq=5
        wait 1s => >
        connect 1
        ev 2..5 => -
        ev 6 => R
        wait 0.9s
        gap open
        ev 7 => R
        wait 1s
        gap recovered 2
        ev 8 => D
    ";
    rule_5_a_far_side_that_does_not_come_is_delivered_from_memory: "
        connect live
        ev a => D
        ev b => D
        comment dropped 1 events
        ev d => H>
        connect a
        ev b => -
        ev c => R
        wait 60s
        memory d
        gap recovered 1 1
        ev d => -
        ev e => D
        latest e
    ";
    rule_5_a_comparable_id_past_the_far_side_ends_the_report: "
        connect live
        ev 1..5 => D
        comment dropped 1 events
        ev 7 => H>
        connect 1
        ev 2..5 => -
        ev 6 => R
        ev 8 => D
        memory 7
        gap recovered 1 1
        latest 8
    ";
    rule_5_a_notice_before_newest_is_met_ends_the_attempt: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 2 events
        ev 8 => H>
        connect 1
        ev 2..3 => -
        comment dropped 9 events => >
        gap open 0 2
        connect 5
        ev 6..8 => D
        latest 5
        wait 60s => >
        connect 1
        ev 2..8 => -
        latest 8
    ";
    rule_5_an_attempt_ended_by_a_notice_leaves_newest_where_it_was: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 1 events
        wait 1s => >
        connect 1
        ev 2..5 => -
        ev 6 => R
        wait 1s
        comment dropped 2 events
        ev 9..20 => D
        wait 60s => >
        connect 1
        ev 2..6 => -
        ev 7 => R
        comment dropped 1 events => >
        newest 20
        connect 20
    ";
    rule_5_a_notice_in_the_report_joins_the_gap_and_the_next_recovery_fills_both: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 10 events
        ev 16 => H>
        connect 1
        ev 2..5 => -
        ev 6..8 => R
        comment dropped 12 events
        gap open 3 15
        latest 8
        ev 21 => D
        latest 8
        wait 60s => >
        connect 1
        ev 2..8 => -
        ev 9..20 => R
        ev 21 => -
        latest 21
        wait 0s
        gap recovered 15 15
        memory
    ";
    rule_5_a_notice_in_the_report_with_no_cooldown_keeps_the_far_side: "
        set cooldown 0s
        connect live
        ev 1..5 => D
        comment dropped 10 events
        ev 16 => H>
        connect 1
        ev 2..5 => -
        ev 6..8 => R
        comment dropped 12 events => >
        connect 1
        ev 2..8 => -
        ev 9..15 => R
        ev 17..20 => R
        gap open 14 15
        wait 2s
        gap partial 14 15
        memory 16
    ";
    rule_5_a_notice_in_the_report_of_part_of_the_rest_leaves_the_hole_as_wide_as_it_was: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 10 events
        ev 16 => H>
        connect 1
        ev 2..5 => -
        ev 6..8 => R
        comment dropped 2 events
        gap open 3 10
        ev 11..18 => D
        wait 60s => >
        connect 1
        ev 2..8 => -
        ev 9..10 => R
        ev 11..18 => -
        latest 18
        wait 0s
        gap recovered 10 10
    ";
    rule_5_a_notice_in_place_of_the_far_side_joins_the_gap: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 2 events
        ev 8 => H>
        connect 1
        ev 2..5 => -
        ev 6..7 => R
        comment dropped 2 events
        gap open 2 4
        ev 10 => D
        wait 60s => >
        connect 1
        ev 2..7 => -
        ev 8..9 => R
        ev 10 => -
        latest 10
        wait 0s
        gap recovered 4 4
    ";
    rule_5_a_notice_after_all_that_was_announced_opens_a_gap_of_its_own: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 2 events
        wait 1s => >
        connect 1
        ev 2..5 => -
        ev 6..7 => R
        comment dropped 3 events
        gap open 0 3
        latest 7
    ";
    rule_5_a_crash_before_the_far_side_and_going_on_from_newest_fills_the_gap: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 1 events
        ev 7 => H>
        connect 1
        ev 2..5 => -
        ev 6 => R
        ev 7..9 => D
        gap recovered 1 1
        comment dropped 3 events
        crash
        connect 9
        ev 10..14 => D
        latest 9
        gap open 0 3
        wait 60s => >
        connect 1
        ev 2..14 => -
        latest 14
        wait 0s
        gap recovered 3 3
    ";
    rule_5_what_lies_after_the_hole_fills_nothing: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 1 events
        ev 7 => H>
        connect 1
        ev 2..5 => -
        ev 6 => R
        ev 7..9 => D
        comment dropped 3 events
        ev 13 => D
        crash
        connect 13
        ev 14..20 => D
        wait 60s => >
        connect 1
        ev 2..9 => -
        ev 10..11 => R
        ev 13..20 => -
        latest 20
        wait 0s
        gap partial 2 3
        ev 21 => D
    ";
    rule_6_what_a_server_without_cursors_sent_from_newest_fills_nothing: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 1 events
        ev 7 => H>
        connect 1
        ev 2..5 => -
        ev 6 => R
        ev 7..9 => D
        comment dropped 3 events
        crash
        connect 9
        ev 20..30 => D
        wait 60s => >
        connect 1
        ev 31 => D>
        connect 8
        ev 32 => D
        gap unrecoverable 0 3
    ";
    rule_6_notices_in_a_row_are_recovered_where_the_number_came_from_newest: "
        set cooldown 10s
        connect live
        ev 1..5 => D
        comment dropped 2 events
        ev 8 => H>
        connect 1
        ev 2 => -
        comment dropped 2 events => >
        connect 5
        ev 6..9 => D
        wait 10s => >
        connect 1
        ev 2 => -
        gap open 2 2
        comment dropped 2 events => >
        connect 9
        wait 10s => >
        connect 1
        ev 2 => -
        comment dropped 2 events => >
        connect 9
        wait 10s => >
        refuse 4
        connect 9
        gap recovered 2 2
        latest 9
    ";
    rule_5_max_replay_gives_up_as_partial: "
        set max-replay 3
        connect live
        ev 1..5 => D
        comment dropped 10 events
        ev 16 => H>
        connect 1
        ev 2..5 => -
        ev 6..8 => R
        ev 9 => X>
        memory 16
        gap partial 3 10
        connect 16
        ev 17 => D
        latest 17
    ";

    // Rule 6: most servers say nothing.
    rule_6_a_server_that_ignores_the_cursor_is_unrecoverable_and_the_stream_goes_on: "
        connect live
        ev 1..5 => D
        comment dropped 2 events
        ev 8 => H>
        connect 1
        ev 9 => D>
        memory 8
        connect 4
        ev 10 => D
        gap unrecoverable 0 2
        ev 11 => D
        latest 11
        lost true
        notices drop-notice recovery-started recovery-started gap-unrecoverable
    ";
    rule_6_the_far_side_first_fails_the_attempt_and_the_second_goes_from_before_latest: "
        connect live
        ev a => D
        ev b => D
        ev c => D
        comment dropped 2 events
        ev f => H>
        connect a
        ev f => D>
        connect b
        ev c => -
        ev d => R
        ev e => R
        ev f => -
        wait 0s
        gap recovered 2 2
        latest f
    ";
    rule_6_the_second_attempt_is_recovered_only_by_the_number: "
        connect live
        ev 1..3 => D
        comment slow consumer, reconnect to resume
        ev 6 => H>
        refuse 1 => >
        connect 2
        ev 3 => -
        ev 4..5 => R
        ev 6 => D
        gap partial 2
    ";
    rule_6_what_a_failed_attempt_left_does_not_place_the_second: "
        connect live
        ev 1..5 => D
        comment dropped 10 events
        ev 16 => H>
        connect 1
        ev 21 => D>
        memory 16
        connect 4
        ev 21 => -
        gap unrecoverable 0 10
        ev 22..40 => D
        latest 40
    ";
    rule_6_events_after_what_a_failed_attempt_left_fill_no_gap: "
        connect live
        ev 1..5 => D
        comment dropped 10 events
        ev 16 => H>
        connect 1
        ev 21 => D>
        connect 4
        ev 15 => R
        ev 21 => -
        gap partial 1 10
        ev 22..40 => D
        latest 40
    ";
    rule_6_without_an_event_from_before_the_notice_nothing_after_newest_fills_the_gap: "
        set cooldown 10s
        connect live
        ev a => D
        comment dropped 1 events
        wait 1s => >
        connect a
        wait 1s
        gap partial 0 1
        comment dropped 3 events
        ev x => D
        wait 10s => >
        connect a
        ev c => R
        ev x => -
        gap partial 1 3
        ev y => D
        latest y
    ";
    rule_6_past_a_newest_that_the_server_no_longer_has_the_recovery_is_over: "
        connect live
        ev 1..5 => D
        comment dropped 3 events
        ev 9 => H>
        connect 1
        ev 2 => -
        end
        connect 2
        ev 12 => D
        memory 9
        gap partial 0 3
        ev 13 => D
        latest 13
    ";
    rule_6_an_expired_cursor_is_followed_by_a_snapshot_where_there_is_one: "
        set snapshot yes
        connect live
        ev 1..5 => D
        end
        refuse 5 => >
        snapshots 0
        connect live
        snapshots 1
        latest 5
        ev 100 => D
        latest 100
        end
        connect 100
        snapshots 1
        ev 101=gone:resync => D>
        latest 100
        connect live
        snapshots 2
        ev 110 => D
        latest 110
    ";
    rule_6_a_reset_event_is_one_each_time: "
        connect live
        ev 1..5 => D
        end
        connect 5
        ev 6=gone:stream-reset => D!
        crash
        connect 5
        ev 6=gone:stream-reset => -!
        latest 5
        crash
        connect 5
        ev 6=gone:stream-reset => -!
        latest 5
    ";
    rule_6_a_reset_event_that_was_delivered_fails_a_re_read: "
        connect live
        ev 1..5 => D
        end
        connect 5
        ev 6=gone:resync => D!
        crash
        connect 5
        ev 6..7 => D
        comment dropped 2 events
        ev 10 => H>
        connect 1
        ev 6=gone:resync => ->
        connect 6
    ";
    rule_6_no_known_event_in_ten_seconds_fails: "
        connect live
        ev a => D
        ev b => D
        comment dropped 2 events
        wait 1s => >
        connect a
        ev x => R
        wait 10s => >
        connect a
        wait 10s
        gap unrecoverable 0 2
        ev y => D
        latest y
    ";
    rule_6_a_refused_cursor_twice_is_unrecoverable_and_goes_on_from_newest: "
        connect live
        ev 1..5 => D
        comment dropped 2 events
        ev 8 => H>
        refuse 1 => >
        refuse 4
        memory 8
        gap unrecoverable
        connect 8
        ev 9 => D
        latest 9
    ";
    rule_6_notices_three_in_a_row_fail_the_attempt: "
        set cooldown 10s
        connect live
        ev 1..5 => D
        comment dropped 2 events
        wait 1s => >
        connect 1
        comment dropped 2 events => >
        connect 5
        wait 10s => >
        connect 1
        comment dropped 2 events => >
        connect 5
        wait 10s => >
        connect 1
        comment dropped 2 events => >
        connect 5
        wait 10s => >
        connect 4
        ev 5 => -
        ev 6..7 => R
        wait 0s
        gap recovered 2 2
    ";
    rule_6_a_notice_ends_the_second_attempt_as_it_ends_the_first: "
        set cooldown 10s
        connect live
        ev 1..5 => D
        comment dropped 2 events
        wait 1s => >
        refuse 1 => >
        connect 4
        comment dropped 2 events => >
        connect 5
        wait 10s => >
        connect 4
        ev 5 => -
        ev 6..7 => R
        wait 0s
        gap recovered 2 2
    ";
    rule_6_a_far_side_delivered_from_memory_is_removed_where_it_comes_after_all: "
        set cooldown 0s
        connect live
        ev 1..5 => D
        comment dropped 2 events
        ev 8 => H>
        connect 1
        comment dropped 2 events => >
        connect 1
        comment dropped 2 events => >
        connect 1
        comment dropped 2 events => >
        connect 4
        comment dropped 2 events
        memory 8
        gap unrecoverable
        ev 5 => -
        ev 6..7 => D
        ev 8 => -
        ev 9 => D
    ";
    rule_6_a_far_side_that_was_left_behind_moves_nothing_back: "
        set cooldown 60s
        connect live
        ev 1..5 => D
        comment dropped 2 events
        ev 8 => H>
        connect 1
        ev 2 => -
        comment dropped 2 events => >
        connect 5
        ev 20..30 => D
        wait 60s => >
        connect 1
        ev 31 => D>
        memory 8
        newest 31
        connect 4
        ev 32 => D
        gap unrecoverable
        latest 32
    ";
    rule_6_sixty_seconds_without_a_known_event_after_some_is_partial: "
        connect live
        ev a => D
        ev b => D
        ev c => D
        comment dropped 9 events
        wait 1s => >
        connect a
        ev b => -
        ev x => R
        latest c
        wait 60s
        gap partial 1 9
        ev y => D
        latest y
    ";
    rule_6_outside_a_recovery_a_refused_cursor_is_expired: "
        connect live
        ev 1..5 => D
        end
        refuse 5 => !
        latest 5
        notices cursor-expired
    ";
    rule_6_a_reset_event_says_that_the_cursor_is_expired: "
        connect live
        ev 1..5 => D
        ev 90=x:resync_required => D!
        latest 5
    ";
    rule_6_expired_goes_on_from_live_where_the_user_said_so: "
        set on-expired live
        connect live
        ev 1..5 => D
        end
        connect 5
        end
        refuse 5
    ";

    // Rule 7: removing.
    rule_7_ids_alone_are_not_unique: "
        connect live
        ev 1=a 1=b 1=c 2=d => D
        end
        connect 1
        ev 1=a 1=b 1=c 2=d => -
        ev 2=e 3=f => D
    ";
    rule_7_equal_events_under_one_id_are_counted: "
        connect live
        ev 1=a 2=x 2=x => D
        end
        connect 1
        ev 2=x 2=x => -
        ev 2=x => D
    ";
    rule_7_outside_a_reread_nothing_is_removed: "
        connect live
        ev 1=a 2=b 1=a 2=b => D
    ";
    rule_7_removal_ends_at_the_first_new_event_after_newest: "
        connect live
        ev 1..3 => D
        end
        connect 3
        ev 3 => -
        ev 4 => D
        ev 3 => D
    ";
    rule_7_a_greeting_without_an_id_is_delivered_each_time: "
        connect live
        ev _=hello => D
        ev 1 => D
        end
        connect 1
        ev _=hello => D
        ev 1 => -
        ev 2 => D
    ";
    rule_7_an_event_without_an_id_is_removed_after_an_id_line: "
        connect live
        ev 1 _=x 2 _=y => D
        end
        connect 2
        ev 1 => -
        ev _=x => -
        ev 2 => -
        ev _=y => -
        ev _=z 3 => D
    ";
    rule_7_one_id_for_ever_places_nothing: "
        connect live
        ev 7=a 7=b 7=c 7=d 7=e 7=f 7=g 7=h 7=i 7=j 7=k 7=l 7=m 7=n 7=o 7=p => D
        comment dropped 3 events
        gap unrecoverable
        end
        connect 7
        ev 7=a 7=q => D
    ";
    rule_7_dedupe_none_delivers_the_replay: "
        set dedupe none
        connect live
        ev 1..3 => D
        comment dropped 2 events
        ev 6 => H>
        connect 1
        ev 2..3 => R
        ev 4..5 => R
        ev 6 => D
        gap recovered 2 2
        latest 6
    ";
    rule_7_dedupe_id_does_not_look_at_the_data: "
        set dedupe id
        connect live
        ev 1=a 2=b => D
        end
        connect 2
        ev 1=x 2=y => -
        ev 3=z => D
    ";

    // Rule 8: shared ids.
    rule_8_a_stream_of_shared_ids_is_resumed_from_before_the_group: "
        connect live
        ev 1=a 1=b 2=a 3=a => D
        end
        connect 2
        ev 3=a => -
        ev 3=b 4=a => D
        latest 4
        crash
        connect 3
    ";
    rule_8_a_recovery_cut_in_its_first_group_goes_on_from_where_it_began: "
        set window 60s
        connect live
        ev 1=a 1=b 2=a => D
        wait 61s
        ev 3=a 3=b => D
        comment dropped 2 events
        ev 4=a => H>
        connect 2
        ev 3=a 3=b => -
        end
        connect 2
        ev 3=a 3=b => -
        ev 3=c 3=d => R
        ev 4=a => D
        gap recovered 2 2
    ";
    rule_8_where_none_precedes_its_own_is_sent: "
        connect live
        ev 1=a 1=b => D
        end
        connect 1
    ";

    // Rule 11: a new record.
    rule_11_last_event_id_begins_a_new_record: "
        set start 50
        connect 50
        latest 50
        lagging 50
        ev 51 => D
        lagging 50
    ";

    // Rule 13: on the wire.
    rule_13_an_empty_id_resets_for_this_process_alone: "
        connect live
        ev 1..3 => D
        ev empty=x => D
        latest 3
        notices cursor-reset
        end
        connect live
        ev 9 => D
        end
        connect 9
    ";
    rule_13_an_open_gap_wins_over_a_reset: "
        connect live
        ev 1..3 => D
        ev empty=x => D
        comment dropped 2 events
        wait 1s => >
        connect 1
    ";
    rule_13_after_a_restart_the_stored_cursor_counts_again: "
        connect live
        ev 1..3 => D
        ev empty=x => D
        restart
        connect 3
    ";
    rule_13_an_id_that_no_header_can_carry_is_not_sent_the_last_that_can_be_is: "
        connect live
        ev 1..3 => D
        ev \u{1}bad => D
        end
        connect 3
        ev \u{1}bad => -
        ev \u{2}bad => D
        end
        connect 3
    ";
    rule_13_a_query_carries_any_id: "
        set cursor query
        connect live
        ev \u{1}bad => D
        end
        connect \u{1}bad
    ";
    no_cursor_events_move_nothing_and_are_not_in_force_afterwards: "
        set no-cursor-event keepalive
        connect live
        ev 1 => D
        ev k9=x:keepalive => D
        dispatch k9
        latest 1
        ev _=y => D
        dispatch 1
        end
        connect 1
    ";
}
