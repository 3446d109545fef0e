# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_ssectl_global_optspecs
    string join \n h/help V/version
end

function __fish_ssectl_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_ssectl_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_ssectl_using_subcommand
    set -l cmd (__fish_ssectl_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c ssectl -n "__fish_ssectl_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_needs_command" -s V -l version -d 'Print version'
complete -c ssectl -n "__fish_ssectl_needs_command" -f -a "tail" -d 'Follow streams from now'
complete -c ssectl -n "__fish_ssectl_needs_command" -f -a "resume" -d 'Continue streams from their stored cursors, for scripts and exports'
complete -c ssectl -n "__fish_ssectl_needs_command" -f -a "replay" -d 'Read the replay window of a stream again; moves no cursor'
complete -c ssectl -n "__fish_ssectl_needs_command" -f -a "checkpoint" -d 'List, show, change and move stored cursors'
complete -c ssectl -n "__fish_ssectl_needs_command" -f -a "probe" -d 'Diagnose a stream, and how its server treats a slow reader'
complete -c ssectl -n "__fish_ssectl_needs_command" -f -a "serve" -d 'Serve events to clients of any speed, with a policy for each type'
complete -c ssectl -n "__fish_ssectl_needs_command" -f -a "demo" -d 'Show the whole story in ten seconds, on loopback'
complete -c ssectl -n "__fish_ssectl_needs_command" -f -a "completions" -d 'Print a completion script'
complete -c ssectl -n "__fish_ssectl_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l stream -d 'Name the stream of a URL [default: host, port, path and query]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s H -l header -d 'Send this request header (repeatable); `@FILE` reads one a line' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s X -l request -d 'Use this request method [default: GET, or POST with --data]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s d -l data -d 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s u -l user -d 'Authenticate with a user name and a password (HTTP Basic)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l bearer-env -d 'Authenticate with the bearer token in this environment variable' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l bearer-cmd -d 'Authenticate with the bearer token that this shell command prints' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l cacert -d 'Trust the certificates in this PEM file, and no others' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l cert -d 'Present the client certificate in this PEM file' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l key -d 'The private key of the client certificate, if it is not in the same file' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s x -l proxy -d 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l connect-timeout -d 'Give up connecting after this time [default: 10s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l idle-timeout -d 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l retry-initial -d 'Wait this long before the first reconnection [default: 1s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l retry-max -d 'Wait at most this long between attempts, and at least 100ms [default: 30s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l max-retries -d 'Give up after this many attempts in a row that failed [default: never]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l send-cursor -d 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l start-param -d 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l last-event-id -d 'Start after this id at the first connection, whatever is stored (one STREAM only)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l id-from -d 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l no-cursor-event -d 'Ids of events of this type move no cursor (repeatable), such as `keepalive`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l max-event-bytes -d 'The largest event that is accepted [default: 64MiB]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l db -d 'Keep cursors in this file [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l drop-notice -d 'A comment that matches is a drop notice (repeatable)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l drop-event -d 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l window -d 'The replay window: how far back a recovery reads [default: 15m]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l dedupe -d 'What makes two deliveries the same: event, id, a JSON pointer, or none [default: event]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l drop-cooldown -d 'At most one recovery in this time; a drop notice within it waits [default: 60s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l max-replay -d 'Give a recovery up as partial once it would deliver more events than this [default: no limit]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l on-drop -d 'What to do at a drop notice [default: recover]' -r -f -a "recover\t'Read the window again and deliver what is missing'
warn\t'Say and count it, and go on; the gap is `ignored`'
exit\t'End with exit code 5; the gap stays open for the next `resume`'"
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l on-expired -d 'What to do when the server no longer has the cursor [default: stop]' -r -f -a "stop\t'End with exit code 5 and say how to go on'
live\t'Go on from now, and say so'"
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l snapshot-url -d 'When the server no longer has the cursor, deliver the current state from this URL, and go on live' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s o -l output -d 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l read-ahead -d 'How far the network may run ahead of a slow output, in memory [default: 8MiB]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s e -l event -d 'Write only events of this type (repeatable); cursors move all the same' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l grep -d 'Write only events whose data matches (repeatable); cursors move all the same' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l color -d 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s n -l count -d 'End after this many events were written' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l for -d 'End after this time' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l until-id -d 'End with the event of this id, which is still written (one STREAM only)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l until-data -d 'End with the event whose data is this text, such as `[DONE]`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l until-idle -d 'End when no event came for this time while connected, and no recovery waits' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l policy -d 'What gives way while the output is behind: TYPE=coalesce:/POINTER or TYPE=drop (repeatable)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s k -l insecure -d 'Do not verify the server\'s certificate'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l http1.1 -d 'Use HTTP/1.1, never HTTP/2'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l http2-prior-knowledge -d 'Use HTTP/2 without asking, also where there is no TLS to ask in'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l compressed -d 'Ask for a compressed response'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l no-reconnect -d 'End when the connection ends [default for any method but GET]'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l reconnect -d 'Reconnect whatever the method is [default for GET]'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l no-store -d 'Keep everything in memory, and forget it at the end'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l no-default-drop-notices -d 'Only --drop-notice and --drop-event say what a drop notice is'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l comments -d 'Write comments too'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l notices -d 'Write notices of ssectl\'s own too: connections, drop notices, recoveries'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l json-data -d 'Embed data as a JSON value where it is one'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -l stats -d 'Print a summary on stderr at the end'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s v -l verbose -d 'Say more on stderr, such as which position was chosen and why; `-vv` says still more'
complete -c ssectl -n "__fish_ssectl_using_subcommand tail" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l stream -d 'Name the stream of a URL [default: host, port, path and query]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s H -l header -d 'Send this request header (repeatable); `@FILE` reads one a line' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s X -l request -d 'Use this request method [default: GET, or POST with --data]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s d -l data -d 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s u -l user -d 'Authenticate with a user name and a password (HTTP Basic)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l bearer-env -d 'Authenticate with the bearer token in this environment variable' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l bearer-cmd -d 'Authenticate with the bearer token that this shell command prints' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l cacert -d 'Trust the certificates in this PEM file, and no others' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l cert -d 'Present the client certificate in this PEM file' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l key -d 'The private key of the client certificate, if it is not in the same file' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s x -l proxy -d 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l connect-timeout -d 'Give up connecting after this time [default: 10s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l idle-timeout -d 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l retry-initial -d 'Wait this long before the first reconnection [default: 1s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l retry-max -d 'Wait at most this long between attempts, and at least 100ms [default: 30s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l max-retries -d 'Give up after this many attempts in a row that failed [default: never]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l send-cursor -d 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l start-param -d 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l last-event-id -d 'Start after this id at the first connection, whatever is stored (one STREAM only)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l id-from -d 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l no-cursor-event -d 'Ids of events of this type move no cursor (repeatable), such as `keepalive`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l max-event-bytes -d 'The largest event that is accepted [default: 64MiB]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l db -d 'Keep cursors in this file [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l drop-notice -d 'A comment that matches is a drop notice (repeatable)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l drop-event -d 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l window -d 'The replay window: how far back a recovery reads [default: 15m]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l dedupe -d 'What makes two deliveries the same: event, id, a JSON pointer, or none [default: event]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l drop-cooldown -d 'At most one recovery in this time; a drop notice within it waits [default: 60s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l max-replay -d 'Give a recovery up as partial once it would deliver more events than this [default: no limit]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l on-drop -d 'What to do at a drop notice [default: recover]' -r -f -a "recover\t'Read the window again and deliver what is missing'
warn\t'Say and count it, and go on; the gap is `ignored`'
exit\t'End with exit code 5; the gap stays open for the next `resume`'"
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l on-expired -d 'What to do when the server no longer has the cursor [default: stop]' -r -f -a "stop\t'End with exit code 5 and say how to go on'
live\t'Go on from now, and say so'"
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l snapshot-url -d 'When the server no longer has the cursor, deliver the current state from this URL, and go on live' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s o -l output -d 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l read-ahead -d 'How far the network may run ahead of a slow output, in memory [default: 8MiB]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s e -l event -d 'Write only events of this type (repeatable); cursors move all the same' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l grep -d 'Write only events whose data matches (repeatable); cursors move all the same' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l color -d 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s n -l count -d 'End after this many events were written' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l for -d 'End after this time' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l until-id -d 'End with the event of this id, which is still written (one STREAM only)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l until-data -d 'End with the event whose data is this text, such as `[DONE]`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l until-idle -d 'End when no event came for this time while connected, and no recovery waits' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l initial -d 'Where to start when nothing is stored: live, or after an id [default: live]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l to -d 'Append records to this file, each event once whatever happens, instead of to stdout' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l commit-interval -d 'How often what was written to FILE is made durable [default: 1s, or after 8MiB]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l rotate -d 'Finish the file at this size or age and begin another; its name needs `{time}`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s k -l insecure -d 'Do not verify the server\'s certificate'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l http1.1 -d 'Use HTTP/1.1, never HTTP/2'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l http2-prior-knowledge -d 'Use HTTP/2 without asking, also where there is no TLS to ask in'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l compressed -d 'Ask for a compressed response'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l no-reconnect -d 'End when the connection ends [default for any method but GET]'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l reconnect -d 'Reconnect whatever the method is [default for GET]'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l no-store -d 'Keep everything in memory, and forget it at the end'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l no-default-drop-notices -d 'Only --drop-notice and --drop-event say what a drop notice is'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l comments -d 'Write comments too'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l notices -d 'Write notices of ssectl\'s own too: connections, drop notices, recoveries'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l json-data -d 'Embed data as a JSON value where it is one'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -l stats -d 'Print a summary on stderr at the end'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s v -l verbose -d 'Say more on stderr, such as which position was chosen and why; `-vv` says still more'
complete -c ssectl -n "__fish_ssectl_using_subcommand resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l stream -d 'Name the stream of a URL [default: host, port, path and query]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s H -l header -d 'Send this request header (repeatable); `@FILE` reads one a line' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s X -l request -d 'Use this request method [default: GET, or POST with --data]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s d -l data -d 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s u -l user -d 'Authenticate with a user name and a password (HTTP Basic)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l bearer-env -d 'Authenticate with the bearer token in this environment variable' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l bearer-cmd -d 'Authenticate with the bearer token that this shell command prints' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l cacert -d 'Trust the certificates in this PEM file, and no others' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l cert -d 'Present the client certificate in this PEM file' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l key -d 'The private key of the client certificate, if it is not in the same file' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s x -l proxy -d 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l connect-timeout -d 'Give up connecting after this time [default: 10s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l idle-timeout -d 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l retry-initial -d 'Wait this long before the first reconnection [default: 1s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l retry-max -d 'Wait at most this long between attempts, and at least 100ms [default: 30s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l max-retries -d 'Give up after this many attempts in a row that failed [default: never]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l send-cursor -d 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l start-param -d 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l last-event-id -d 'Start after this id at the first connection, whatever is stored (one STREAM only)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l id-from -d 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l no-cursor-event -d 'Ids of events of this type move no cursor (repeatable), such as `keepalive`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l max-event-bytes -d 'The largest event that is accepted [default: 64MiB]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l db -d 'Keep cursors in this file [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l drop-notice -d 'A comment that matches is a drop notice (repeatable)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l drop-event -d 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s o -l output -d 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l read-ahead -d 'How far the network may run ahead of a slow output, in memory [default: 8MiB]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s e -l event -d 'Write only events of this type (repeatable); cursors move all the same' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l grep -d 'Write only events whose data matches (repeatable); cursors move all the same' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l color -d 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s n -l count -d 'End after this many events were written' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l for -d 'End after this time' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l until-id -d 'End with the event of this id, which is still written (one STREAM only)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l until-data -d 'End with the event whose data is this text, such as `[DONE]`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l until-idle -d 'End when no event came for this time while connected, and no recovery waits' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s k -l insecure -d 'Do not verify the server\'s certificate'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l http1.1 -d 'Use HTTP/1.1, never HTTP/2'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l http2-prior-knowledge -d 'Use HTTP/2 without asking, also where there is no TLS to ask in'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l compressed -d 'Ask for a compressed response'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l no-reconnect -d 'End when the connection ends [default for any method but GET]'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l reconnect -d 'Reconnect whatever the method is [default for GET]'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l no-default-drop-notices -d 'Only --drop-notice and --drop-event say what a drop notice is'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l comments -d 'Write comments too'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l notices -d 'Write notices of ssectl\'s own too: connections, drop notices, recoveries'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l json-data -d 'Embed data as a JSON value where it is one'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -l stats -d 'Print a summary on stderr at the end'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s v -l verbose -d 'Say more on stderr, such as which position was chosen and why; `-vv` says still more'
complete -c ssectl -n "__fish_ssectl_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -l db -d 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -s h -l help -d 'Print help'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -f -a "list" -d 'List all stored streams'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -f -a "show" -d 'Show all that is known of one stream, with its gaps'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -f -a "set" -d 'Set a stream\'s cursors by hand'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -f -a "reset" -d 'Forget a stream, or go back to the start of its replay window'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -f -a "export" -d 'Print cursors as JSON, to be imported on another machine'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -f -a "import" -d 'Store cursors that `export` printed'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -f -a "verify" -d 'Check the database; exit code 6 if anything is not as it must be'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -f -a "path" -d 'Print the path of the database'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and not __fish_seen_subcommand_from list show set reset export import verify path help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from list" -s o -l output -d 'How to print it' -r -f -a "pretty\t'For a person'
json\t'For a program'"
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from list" -l db -d 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from list" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from show" -s o -l output -d 'How to print it' -r -f -a "pretty\t'For a person'
json\t'For a program'"
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from show" -l db -d 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from show" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from set" -l latest -d 'The id after which the next `resume` goes on' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from set" -l lagging -d 'The id from which a recovery would read [default: the same]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from set" -l db -d 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from set" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from set" -l force -d 'Do it although a process reads the stream, and fence that process off'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from reset" -l db -d 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from reset" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from reset" -l to-lagging -d 'Keep the stream and set `latest` back to `lagging`'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from reset" -l force -d 'Do it although a process reads the stream, and fence that process off'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from reset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from export" -l db -d 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from export" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from import" -l db -d 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from import" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from import" -l force -d 'Begin new records of streams that are stored already, and fence off processes that read them'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from verify" -l db -d 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from verify" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from path" -l db -d 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from path" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "list" -d 'List all stored streams'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show all that is known of one stream, with its gaps'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "set" -d 'Set a stream\'s cursors by hand'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "reset" -d 'Forget a stream, or go back to the start of its replay window'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "export" -d 'Print cursors as JSON, to be imported on another machine'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "import" -d 'Store cursors that `export` printed'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Check the database; exit code 6 if anything is not as it must be'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "path" -d 'Print the path of the database'
complete -c ssectl -n "__fish_ssectl_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -s H -l header -d 'Send this request header (repeatable); `@FILE` reads one a line' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -s X -l request -d 'Use this request method [default: GET, or POST with --data]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -s d -l data -d 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -s u -l user -d 'Authenticate with a user name and a password (HTTP Basic)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l bearer-env -d 'Authenticate with the bearer token in this environment variable' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l bearer-cmd -d 'Authenticate with the bearer token that this shell command prints' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l cacert -d 'Trust the certificates in this PEM file, and no others' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l cert -d 'Present the client certificate in this PEM file' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l key -d 'The private key of the client certificate, if it is not in the same file' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -s x -l proxy -d 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l connect-timeout -d 'Give up connecting after this time [default: 10s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l idle-timeout -d 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l retry-initial -d 'Wait this long before the first reconnection [default: 1s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l retry-max -d 'Wait at most this long between attempts, and at least 100ms [default: 30s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l max-retries -d 'Give up after this many attempts in a row that failed [default: never]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l send-cursor -d 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l start-param -d 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l last-event-id -d 'Start after this id at the first connection, whatever is stored (one STREAM only)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l id-from -d 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l no-cursor-event -d 'Ids of events of this type move no cursor (repeatable), such as `keepalive`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l max-event-bytes -d 'The largest event that is accepted [default: 64MiB]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l for -d 'How long the stream is watched [default: 30s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l limit-rate -d 'How many bytes a second the slow reader takes [default: 2k, or a quarter of what comes if that is less]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l slow-for -d 'Let the slow reader take nothing at all for this long, and then everything' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -s o -l output -d 'pretty or json [default: pretty on a terminal, else json]' -r -f -a "pretty\t'For a person'
json\t'For a program'"
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l report -d 'Write the report to this file too, as one HTML page' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l color -d 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]' -r -f -a "auto\t''
always\t''
never\t''"
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -s k -l insecure -d 'Do not verify the server\'s certificate'
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l http1.1 -d 'Use HTTP/1.1, never HTTP/2'
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l http2-prior-knowledge -d 'Use HTTP/2 without asking, also where there is no TLS to ask in'
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l compressed -d 'Ask for a compressed response'
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l no-reconnect -d 'End when the connection ends [default for any method but GET]'
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -l reconnect -d 'Reconnect whatever the method is [default for GET]'
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c ssectl -n "__fish_ssectl_using_subcommand probe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l relay -d 'Serve what another stream gives: one connection there, many readers here' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l synthetic -d 'Make events up: types with their rates, keys and sizes' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l speed -d 'How fast a file is played, by the `time` of its records [default: 1x; max where it has none]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l wait -d 'Begin when this many clients are connected [default: 1 for a file, else 0]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l policy -d 'What happens to a type\'s events while a client is slow (repeatable); or a TOML file of such rules' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l together -d 'Types that keep their order among each other (repeatable), such as `price,position_closed`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l queue-bytes -d 'At most so much waits for one client, whatever its types [default: 1MiB]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l log -d 'Keep the log in this SQLite file too, so that cursors outlive the server' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l log-events -d 'How many events can be read again' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l replay-cap -d 'A client that has missed more events than this is sent none of them, but a `resync` event' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l expired -d 'What a cursor gets that the log does not have' -r -f -a "410\t'The status 410'
event\t'A `resync` event, and then what comes live'"
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l listen -d 'Where to listen; port 0 takes a free one' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l heartbeat -d 'Send a comment after this long without anything else [default: 15s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l retry -d 'When clients whose stream the server ends are to come back' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l send-buffer -d 'The kernel\'s send buffer of each connection: the smaller, the sooner a slow client is felt' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l max-clients -d 'At most so many streams at once; a further one gets 503' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l header-timeout -d 'How long the head of a request may take' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l max-header-bytes -d 'How large the head of a request may be' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l config -d 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -s H -l header -d 'Send this request header (repeatable); `@FILE` reads one a line' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -s X -l request -d 'Use this request method [default: GET, or POST with --data]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -s d -l data -d 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -s u -l user -d 'Authenticate with a user name and a password (HTTP Basic)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l bearer-env -d 'Authenticate with the bearer token in this environment variable' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l bearer-cmd -d 'Authenticate with the bearer token that this shell command prints' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l cacert -d 'Trust the certificates in this PEM file, and no others' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l cert -d 'Present the client certificate in this PEM file' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l key -d 'The private key of the client certificate, if it is not in the same file' -r -F
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -s x -l proxy -d 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l connect-timeout -d 'Give up connecting after this time [default: 10s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l idle-timeout -d 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l retry-initial -d 'Wait this long before the first reconnection [default: 1s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l retry-max -d 'Wait at most this long between attempts, and at least 100ms [default: 30s]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l max-retries -d 'Give up after this many attempts in a row that failed [default: never]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l send-cursor -d 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l start-param -d 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l last-event-id -d 'Start after this id at the first connection, whatever is stored (one STREAM only)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l id-from -d 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l no-cursor-event -d 'Ids of events of this type move no cursor (repeatable), such as `keepalive`' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l max-event-bytes -d 'The largest event that is accepted [default: 64MiB]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l drop-notice -d 'A comment that matches is a drop notice (repeatable)' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l drop-event -d 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]' -r
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l once -d 'End when the source has ended and every client has been given everything'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l number -d 'Number the events, instead of leaving them the ids that their source gave them'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l allow-remote -d 'Allow an address that other machines can reach, and any name in `Host`: whoever gets there reads everything'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -s k -l insecure -d 'Do not verify the server\'s certificate'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l http1.1 -d 'Use HTTP/1.1, never HTTP/2'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l http2-prior-knowledge -d 'Use HTTP/2 without asking, also where there is no TLS to ask in'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l compressed -d 'Ask for a compressed response'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l no-reconnect -d 'End when the connection ends [default for any method but GET]'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l reconnect -d 'Reconnect whatever the method is [default for GET]'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -l no-default-drop-notices -d 'Only --drop-notice and --drop-event say what a drop notice is'
complete -c ssectl -n "__fish_ssectl_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand demo" -s o -l output -d 'How to tell it: the story, or its figures as one JSON object [default: pretty]' -r -f -a "pretty\t'For a person'
json\t'For a program'"
complete -c ssectl -n "__fish_ssectl_using_subcommand demo" -l on-drop -d 'What to do at the drop notice' -r -f -a "recover\t'Read the window again and deliver what is missing'
warn\t'Go on as other clients do, and lose the events'"
complete -c ssectl -n "__fish_ssectl_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and not __fish_seen_subcommand_from tail resume replay checkpoint probe serve demo completions help" -f -a "tail" -d 'Follow streams from now'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and not __fish_seen_subcommand_from tail resume replay checkpoint probe serve demo completions help" -f -a "resume" -d 'Continue streams from their stored cursors, for scripts and exports'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and not __fish_seen_subcommand_from tail resume replay checkpoint probe serve demo completions help" -f -a "replay" -d 'Read the replay window of a stream again; moves no cursor'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and not __fish_seen_subcommand_from tail resume replay checkpoint probe serve demo completions help" -f -a "checkpoint" -d 'List, show, change and move stored cursors'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and not __fish_seen_subcommand_from tail resume replay checkpoint probe serve demo completions help" -f -a "probe" -d 'Diagnose a stream, and how its server treats a slow reader'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and not __fish_seen_subcommand_from tail resume replay checkpoint probe serve demo completions help" -f -a "serve" -d 'Serve events to clients of any speed, with a policy for each type'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and not __fish_seen_subcommand_from tail resume replay checkpoint probe serve demo completions help" -f -a "demo" -d 'Show the whole story in ten seconds, on loopback'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and not __fish_seen_subcommand_from tail resume replay checkpoint probe serve demo completions help" -f -a "completions" -d 'Print a completion script'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and not __fish_seen_subcommand_from tail resume replay checkpoint probe serve demo completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and __fish_seen_subcommand_from checkpoint" -f -a "list" -d 'List all stored streams'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and __fish_seen_subcommand_from checkpoint" -f -a "show" -d 'Show all that is known of one stream, with its gaps'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and __fish_seen_subcommand_from checkpoint" -f -a "set" -d 'Set a stream\'s cursors by hand'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and __fish_seen_subcommand_from checkpoint" -f -a "reset" -d 'Forget a stream, or go back to the start of its replay window'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and __fish_seen_subcommand_from checkpoint" -f -a "export" -d 'Print cursors as JSON, to be imported on another machine'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and __fish_seen_subcommand_from checkpoint" -f -a "import" -d 'Store cursors that `export` printed'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and __fish_seen_subcommand_from checkpoint" -f -a "verify" -d 'Check the database; exit code 6 if anything is not as it must be'
complete -c ssectl -n "__fish_ssectl_using_subcommand help; and __fish_seen_subcommand_from checkpoint" -f -a "path" -d 'Print the path of the database'
