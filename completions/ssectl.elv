
use builtin;
use str;

set edit:completion:arg-completer[ssectl] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'ssectl'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'ssectl'= {
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand tail 'Follow streams from now'
            cand resume 'Continue streams from their stored cursors, for scripts and exports'
            cand replay 'Read the replay window of a stream again; moves no cursor'
            cand checkpoint 'List, show, change and move stored cursors'
            cand probe 'Diagnose a stream, and how its server treats a slow reader'
            cand serve 'Serve events to clients of any speed, with a policy for each type'
            cand demo 'Show the whole story in ten seconds, on loopback'
            cand completions 'Print a completion script'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'ssectl;tail'= {
            cand --stream 'Name the stream of a URL [default: host, port, path and query]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -H 'Send this request header (repeatable); `@FILE` reads one a line'
            cand --header 'Send this request header (repeatable); `@FILE` reads one a line'
            cand -X 'Use this request method [default: GET, or POST with --data]'
            cand --request 'Use this request method [default: GET, or POST with --data]'
            cand -d 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST'
            cand --data 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST'
            cand -u 'Authenticate with a user name and a password (HTTP Basic)'
            cand --user 'Authenticate with a user name and a password (HTTP Basic)'
            cand --bearer-env 'Authenticate with the bearer token in this environment variable'
            cand --bearer-cmd 'Authenticate with the bearer token that this shell command prints'
            cand --cacert 'Trust the certificates in this PEM file, and no others'
            cand --cert 'Present the client certificate in this PEM file'
            cand --key 'The private key of the client certificate, if it is not in the same file'
            cand -x 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]'
            cand --proxy 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]'
            cand --connect-timeout 'Give up connecting after this time [default: 10s]'
            cand --idle-timeout 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]'
            cand --retry-initial 'Wait this long before the first reconnection [default: 1s]'
            cand --retry-max 'Wait at most this long between attempts, and at least 100ms [default: 30s]'
            cand --max-retries 'Give up after this many attempts in a row that failed [default: never]'
            cand --send-cursor 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]'
            cand --start-param 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`'
            cand --last-event-id 'Start after this id at the first connection, whatever is stored (one STREAM only)'
            cand --id-from 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`'
            cand --no-cursor-event 'Ids of events of this type move no cursor (repeatable), such as `keepalive`'
            cand --max-event-bytes 'The largest event that is accepted [default: 64MiB]'
            cand --db 'Keep cursors in this file [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --drop-notice 'A comment that matches is a drop notice (repeatable)'
            cand --drop-event 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]'
            cand --window 'The replay window: how far back a recovery reads [default: 15m]'
            cand --dedupe 'What makes two deliveries the same: event, id, a JSON pointer, or none [default: event]'
            cand --drop-cooldown 'At most one recovery in this time; a drop notice within it waits [default: 60s]'
            cand --max-replay 'Give a recovery up as partial once it would deliver more events than this [default: no limit]'
            cand --on-drop 'What to do at a drop notice [default: recover]'
            cand --on-expired 'What to do when the server no longer has the cursor [default: stop]'
            cand --snapshot-url 'When the server no longer has the cursor, deliver the current state from this URL, and go on live'
            cand -o 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]'
            cand --output 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]'
            cand --read-ahead 'How far the network may run ahead of a slow output, in memory [default: 8MiB]'
            cand -e 'Write only events of this type (repeatable); cursors move all the same'
            cand --event 'Write only events of this type (repeatable); cursors move all the same'
            cand --grep 'Write only events whose data matches (repeatable); cursors move all the same'
            cand --color 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]'
            cand -n 'End after this many events were written'
            cand --count 'End after this many events were written'
            cand --for 'End after this time'
            cand --until-id 'End with the event of this id, which is still written (one STREAM only)'
            cand --until-data 'End with the event whose data is this text, such as `[DONE]`'
            cand --until-idle 'End when no event came for this time while connected, and no recovery waits'
            cand --policy 'What gives way while the output is behind: TYPE=coalesce:/POINTER or TYPE=drop (repeatable)'
            cand -k 'Do not verify the server''s certificate'
            cand --insecure 'Do not verify the server''s certificate'
            cand --http1.1 'Use HTTP/1.1, never HTTP/2'
            cand --http2-prior-knowledge 'Use HTTP/2 without asking, also where there is no TLS to ask in'
            cand --compressed 'Ask for a compressed response'
            cand --no-reconnect 'End when the connection ends [default for any method but GET]'
            cand --reconnect 'Reconnect whatever the method is [default for GET]'
            cand --no-store 'Keep everything in memory, and forget it at the end'
            cand --no-default-drop-notices 'Only --drop-notice and --drop-event say what a drop notice is'
            cand --comments 'Write comments too'
            cand --notices 'Write notices of ssectl''s own too: connections, drop notices, recoveries'
            cand --json-data 'Embed data as a JSON value where it is one'
            cand --stats 'Print a summary on stderr at the end'
            cand -q 'Say nothing on stderr but warnings and errors'
            cand --quiet 'Say nothing on stderr but warnings and errors'
            cand -v 'Say more on stderr, such as which position was chosen and why; `-vv` says still more'
            cand --verbose 'Say more on stderr, such as which position was chosen and why; `-vv` says still more'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;resume'= {
            cand --stream 'Name the stream of a URL [default: host, port, path and query]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -H 'Send this request header (repeatable); `@FILE` reads one a line'
            cand --header 'Send this request header (repeatable); `@FILE` reads one a line'
            cand -X 'Use this request method [default: GET, or POST with --data]'
            cand --request 'Use this request method [default: GET, or POST with --data]'
            cand -d 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST'
            cand --data 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST'
            cand -u 'Authenticate with a user name and a password (HTTP Basic)'
            cand --user 'Authenticate with a user name and a password (HTTP Basic)'
            cand --bearer-env 'Authenticate with the bearer token in this environment variable'
            cand --bearer-cmd 'Authenticate with the bearer token that this shell command prints'
            cand --cacert 'Trust the certificates in this PEM file, and no others'
            cand --cert 'Present the client certificate in this PEM file'
            cand --key 'The private key of the client certificate, if it is not in the same file'
            cand -x 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]'
            cand --proxy 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]'
            cand --connect-timeout 'Give up connecting after this time [default: 10s]'
            cand --idle-timeout 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]'
            cand --retry-initial 'Wait this long before the first reconnection [default: 1s]'
            cand --retry-max 'Wait at most this long between attempts, and at least 100ms [default: 30s]'
            cand --max-retries 'Give up after this many attempts in a row that failed [default: never]'
            cand --send-cursor 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]'
            cand --start-param 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`'
            cand --last-event-id 'Start after this id at the first connection, whatever is stored (one STREAM only)'
            cand --id-from 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`'
            cand --no-cursor-event 'Ids of events of this type move no cursor (repeatable), such as `keepalive`'
            cand --max-event-bytes 'The largest event that is accepted [default: 64MiB]'
            cand --db 'Keep cursors in this file [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --drop-notice 'A comment that matches is a drop notice (repeatable)'
            cand --drop-event 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]'
            cand --window 'The replay window: how far back a recovery reads [default: 15m]'
            cand --dedupe 'What makes two deliveries the same: event, id, a JSON pointer, or none [default: event]'
            cand --drop-cooldown 'At most one recovery in this time; a drop notice within it waits [default: 60s]'
            cand --max-replay 'Give a recovery up as partial once it would deliver more events than this [default: no limit]'
            cand --on-drop 'What to do at a drop notice [default: recover]'
            cand --on-expired 'What to do when the server no longer has the cursor [default: stop]'
            cand --snapshot-url 'When the server no longer has the cursor, deliver the current state from this URL, and go on live'
            cand -o 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]'
            cand --output 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]'
            cand --read-ahead 'How far the network may run ahead of a slow output, in memory [default: 8MiB]'
            cand -e 'Write only events of this type (repeatable); cursors move all the same'
            cand --event 'Write only events of this type (repeatable); cursors move all the same'
            cand --grep 'Write only events whose data matches (repeatable); cursors move all the same'
            cand --color 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]'
            cand -n 'End after this many events were written'
            cand --count 'End after this many events were written'
            cand --for 'End after this time'
            cand --until-id 'End with the event of this id, which is still written (one STREAM only)'
            cand --until-data 'End with the event whose data is this text, such as `[DONE]`'
            cand --until-idle 'End when no event came for this time while connected, and no recovery waits'
            cand --initial 'Where to start when nothing is stored: live, or after an id [default: live]'
            cand --to 'Append records to this file, each event once whatever happens, instead of to stdout'
            cand --commit-interval 'How often what was written to FILE is made durable [default: 1s, or after 8MiB]'
            cand --rotate 'Finish the file at this size or age and begin another; its name needs `{time}`'
            cand -k 'Do not verify the server''s certificate'
            cand --insecure 'Do not verify the server''s certificate'
            cand --http1.1 'Use HTTP/1.1, never HTTP/2'
            cand --http2-prior-knowledge 'Use HTTP/2 without asking, also where there is no TLS to ask in'
            cand --compressed 'Ask for a compressed response'
            cand --no-reconnect 'End when the connection ends [default for any method but GET]'
            cand --reconnect 'Reconnect whatever the method is [default for GET]'
            cand --no-store 'Keep everything in memory, and forget it at the end'
            cand --no-default-drop-notices 'Only --drop-notice and --drop-event say what a drop notice is'
            cand --comments 'Write comments too'
            cand --notices 'Write notices of ssectl''s own too: connections, drop notices, recoveries'
            cand --json-data 'Embed data as a JSON value where it is one'
            cand --stats 'Print a summary on stderr at the end'
            cand -q 'Say nothing on stderr but warnings and errors'
            cand --quiet 'Say nothing on stderr but warnings and errors'
            cand -v 'Say more on stderr, such as which position was chosen and why; `-vv` says still more'
            cand --verbose 'Say more on stderr, such as which position was chosen and why; `-vv` says still more'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;replay'= {
            cand --stream 'Name the stream of a URL [default: host, port, path and query]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -H 'Send this request header (repeatable); `@FILE` reads one a line'
            cand --header 'Send this request header (repeatable); `@FILE` reads one a line'
            cand -X 'Use this request method [default: GET, or POST with --data]'
            cand --request 'Use this request method [default: GET, or POST with --data]'
            cand -d 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST'
            cand --data 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST'
            cand -u 'Authenticate with a user name and a password (HTTP Basic)'
            cand --user 'Authenticate with a user name and a password (HTTP Basic)'
            cand --bearer-env 'Authenticate with the bearer token in this environment variable'
            cand --bearer-cmd 'Authenticate with the bearer token that this shell command prints'
            cand --cacert 'Trust the certificates in this PEM file, and no others'
            cand --cert 'Present the client certificate in this PEM file'
            cand --key 'The private key of the client certificate, if it is not in the same file'
            cand -x 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]'
            cand --proxy 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]'
            cand --connect-timeout 'Give up connecting after this time [default: 10s]'
            cand --idle-timeout 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]'
            cand --retry-initial 'Wait this long before the first reconnection [default: 1s]'
            cand --retry-max 'Wait at most this long between attempts, and at least 100ms [default: 30s]'
            cand --max-retries 'Give up after this many attempts in a row that failed [default: never]'
            cand --send-cursor 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]'
            cand --start-param 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`'
            cand --last-event-id 'Start after this id at the first connection, whatever is stored (one STREAM only)'
            cand --id-from 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`'
            cand --no-cursor-event 'Ids of events of this type move no cursor (repeatable), such as `keepalive`'
            cand --max-event-bytes 'The largest event that is accepted [default: 64MiB]'
            cand --db 'Keep cursors in this file [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --drop-notice 'A comment that matches is a drop notice (repeatable)'
            cand --drop-event 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]'
            cand -o 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]'
            cand --output 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]'
            cand --read-ahead 'How far the network may run ahead of a slow output, in memory [default: 8MiB]'
            cand -e 'Write only events of this type (repeatable); cursors move all the same'
            cand --event 'Write only events of this type (repeatable); cursors move all the same'
            cand --grep 'Write only events whose data matches (repeatable); cursors move all the same'
            cand --color 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]'
            cand -n 'End after this many events were written'
            cand --count 'End after this many events were written'
            cand --for 'End after this time'
            cand --until-id 'End with the event of this id, which is still written (one STREAM only)'
            cand --until-data 'End with the event whose data is this text, such as `[DONE]`'
            cand --until-idle 'End when no event came for this time while connected, and no recovery waits'
            cand -k 'Do not verify the server''s certificate'
            cand --insecure 'Do not verify the server''s certificate'
            cand --http1.1 'Use HTTP/1.1, never HTTP/2'
            cand --http2-prior-knowledge 'Use HTTP/2 without asking, also where there is no TLS to ask in'
            cand --compressed 'Ask for a compressed response'
            cand --no-reconnect 'End when the connection ends [default for any method but GET]'
            cand --reconnect 'Reconnect whatever the method is [default for GET]'
            cand --no-default-drop-notices 'Only --drop-notice and --drop-event say what a drop notice is'
            cand --comments 'Write comments too'
            cand --notices 'Write notices of ssectl''s own too: connections, drop notices, recoveries'
            cand --json-data 'Embed data as a JSON value where it is one'
            cand --stats 'Print a summary on stderr at the end'
            cand -q 'Say nothing on stderr but warnings and errors'
            cand --quiet 'Say nothing on stderr but warnings and errors'
            cand -v 'Say more on stderr, such as which position was chosen and why; `-vv` says still more'
            cand --verbose 'Say more on stderr, such as which position was chosen and why; `-vv` says still more'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;checkpoint'= {
            cand --db 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -h 'Print help'
            cand --help 'Print help'
            cand list 'List all stored streams'
            cand show 'Show all that is known of one stream, with its gaps'
            cand set 'Set a stream''s cursors by hand'
            cand reset 'Forget a stream, or go back to the start of its replay window'
            cand export 'Print cursors as JSON, to be imported on another machine'
            cand import 'Store cursors that `export` printed'
            cand verify 'Check the database; exit code 6 if anything is not as it must be'
            cand path 'Print the path of the database'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'ssectl;checkpoint;list'= {
            cand -o 'How to print it'
            cand --output 'How to print it'
            cand --db 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;checkpoint;show'= {
            cand -o 'How to print it'
            cand --output 'How to print it'
            cand --db 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;checkpoint;set'= {
            cand --latest 'The id after which the next `resume` goes on'
            cand --lagging 'The id from which a recovery would read [default: the same]'
            cand --db 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand --force 'Do it although a process reads the stream, and fence that process off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;checkpoint;reset'= {
            cand --db 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand --to-lagging 'Keep the stream and set `latest` back to `lagging`'
            cand --force 'Do it although a process reads the stream, and fence that process off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;checkpoint;export'= {
            cand --db 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'ssectl;checkpoint;import'= {
            cand --db 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand --force 'Begin new records of streams that are stored already, and fence off processes that read them'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;checkpoint;verify'= {
            cand --db 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'ssectl;checkpoint;path'= {
            cand --db 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'ssectl;checkpoint;help'= {
            cand list 'List all stored streams'
            cand show 'Show all that is known of one stream, with its gaps'
            cand set 'Set a stream''s cursors by hand'
            cand reset 'Forget a stream, or go back to the start of its replay window'
            cand export 'Print cursors as JSON, to be imported on another machine'
            cand import 'Store cursors that `export` printed'
            cand verify 'Check the database; exit code 6 if anything is not as it must be'
            cand path 'Print the path of the database'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'ssectl;checkpoint;help;list'= {
        }
        &'ssectl;checkpoint;help;show'= {
        }
        &'ssectl;checkpoint;help;set'= {
        }
        &'ssectl;checkpoint;help;reset'= {
        }
        &'ssectl;checkpoint;help;export'= {
        }
        &'ssectl;checkpoint;help;import'= {
        }
        &'ssectl;checkpoint;help;verify'= {
        }
        &'ssectl;checkpoint;help;path'= {
        }
        &'ssectl;checkpoint;help;help'= {
        }
        &'ssectl;probe'= {
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -H 'Send this request header (repeatable); `@FILE` reads one a line'
            cand --header 'Send this request header (repeatable); `@FILE` reads one a line'
            cand -X 'Use this request method [default: GET, or POST with --data]'
            cand --request 'Use this request method [default: GET, or POST with --data]'
            cand -d 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST'
            cand --data 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST'
            cand -u 'Authenticate with a user name and a password (HTTP Basic)'
            cand --user 'Authenticate with a user name and a password (HTTP Basic)'
            cand --bearer-env 'Authenticate with the bearer token in this environment variable'
            cand --bearer-cmd 'Authenticate with the bearer token that this shell command prints'
            cand --cacert 'Trust the certificates in this PEM file, and no others'
            cand --cert 'Present the client certificate in this PEM file'
            cand --key 'The private key of the client certificate, if it is not in the same file'
            cand -x 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]'
            cand --proxy 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]'
            cand --connect-timeout 'Give up connecting after this time [default: 10s]'
            cand --idle-timeout 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]'
            cand --retry-initial 'Wait this long before the first reconnection [default: 1s]'
            cand --retry-max 'Wait at most this long between attempts, and at least 100ms [default: 30s]'
            cand --max-retries 'Give up after this many attempts in a row that failed [default: never]'
            cand --send-cursor 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]'
            cand --start-param 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`'
            cand --last-event-id 'Start after this id at the first connection, whatever is stored (one STREAM only)'
            cand --id-from 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`'
            cand --no-cursor-event 'Ids of events of this type move no cursor (repeatable), such as `keepalive`'
            cand --max-event-bytes 'The largest event that is accepted [default: 64MiB]'
            cand --for 'How long the stream is watched [default: 30s]'
            cand --limit-rate 'How many bytes a second the slow reader takes [default: 2k, or a quarter of what comes if that is less]'
            cand --slow-for 'Let the slow reader take nothing at all for this long, and then everything'
            cand -o 'pretty or json [default: pretty on a terminal, else json]'
            cand --output 'pretty or json [default: pretty on a terminal, else json]'
            cand --report 'Write the report to this file too, as one HTML page'
            cand --color 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]'
            cand -k 'Do not verify the server''s certificate'
            cand --insecure 'Do not verify the server''s certificate'
            cand --http1.1 'Use HTTP/1.1, never HTTP/2'
            cand --http2-prior-knowledge 'Use HTTP/2 without asking, also where there is no TLS to ask in'
            cand --compressed 'Ask for a compressed response'
            cand --no-reconnect 'End when the connection ends [default for any method but GET]'
            cand --reconnect 'Reconnect whatever the method is [default for GET]'
            cand -q 'Say nothing on stderr but warnings and errors'
            cand --quiet 'Say nothing on stderr but warnings and errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;serve'= {
            cand --relay 'Serve what another stream gives: one connection there, many readers here'
            cand --synthetic 'Make events up: types with their rates, keys and sizes'
            cand --speed 'How fast a file is played, by the `time` of its records [default: 1x; max where it has none]'
            cand --wait 'Begin when this many clients are connected [default: 1 for a file, else 0]'
            cand --policy 'What happens to a type''s events while a client is slow (repeatable); or a TOML file of such rules'
            cand --together 'Types that keep their order among each other (repeatable), such as `price,position_closed`'
            cand --queue-bytes 'At most so much waits for one client, whatever its types [default: 1MiB]'
            cand --log 'Keep the log in this SQLite file too, so that cursors outlive the server'
            cand --log-events 'How many events can be read again'
            cand --replay-cap 'A client that has missed more events than this is sent none of them, but a `resync` event'
            cand --expired 'What a cursor gets that the log does not have'
            cand --listen 'Where to listen; port 0 takes a free one'
            cand --heartbeat 'Send a comment after this long without anything else [default: 15s]'
            cand --retry 'When clients whose stream the server ends are to come back'
            cand --send-buffer 'The kernel''s send buffer of each connection: the smaller, the sooner a slow client is felt'
            cand --max-clients 'At most so many streams at once; a further one gets 503'
            cand --header-timeout 'How long the head of a request may take'
            cand --max-header-bytes 'How large the head of a request may be'
            cand --config 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]'
            cand -H 'Send this request header (repeatable); `@FILE` reads one a line'
            cand --header 'Send this request header (repeatable); `@FILE` reads one a line'
            cand -X 'Use this request method [default: GET, or POST with --data]'
            cand --request 'Use this request method [default: GET, or POST with --data]'
            cand -d 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST'
            cand --data 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST'
            cand -u 'Authenticate with a user name and a password (HTTP Basic)'
            cand --user 'Authenticate with a user name and a password (HTTP Basic)'
            cand --bearer-env 'Authenticate with the bearer token in this environment variable'
            cand --bearer-cmd 'Authenticate with the bearer token that this shell command prints'
            cand --cacert 'Trust the certificates in this PEM file, and no others'
            cand --cert 'Present the client certificate in this PEM file'
            cand --key 'The private key of the client certificate, if it is not in the same file'
            cand -x 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]'
            cand --proxy 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]'
            cand --connect-timeout 'Give up connecting after this time [default: 10s]'
            cand --idle-timeout 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]'
            cand --retry-initial 'Wait this long before the first reconnection [default: 1s]'
            cand --retry-max 'Wait at most this long between attempts, and at least 100ms [default: 30s]'
            cand --max-retries 'Give up after this many attempts in a row that failed [default: never]'
            cand --send-cursor 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]'
            cand --start-param 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`'
            cand --last-event-id 'Start after this id at the first connection, whatever is stored (one STREAM only)'
            cand --id-from 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`'
            cand --no-cursor-event 'Ids of events of this type move no cursor (repeatable), such as `keepalive`'
            cand --max-event-bytes 'The largest event that is accepted [default: 64MiB]'
            cand --drop-notice 'A comment that matches is a drop notice (repeatable)'
            cand --drop-event 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]'
            cand --once 'End when the source has ended and every client has been given everything'
            cand --number 'Number the events, instead of leaving them the ids that their source gave them'
            cand --allow-remote 'Allow an address that other machines can reach, and any name in `Host`: whoever gets there reads everything'
            cand -q 'Say nothing on stderr but warnings and errors'
            cand --quiet 'Say nothing on stderr but warnings and errors'
            cand -k 'Do not verify the server''s certificate'
            cand --insecure 'Do not verify the server''s certificate'
            cand --http1.1 'Use HTTP/1.1, never HTTP/2'
            cand --http2-prior-knowledge 'Use HTTP/2 without asking, also where there is no TLS to ask in'
            cand --compressed 'Ask for a compressed response'
            cand --no-reconnect 'End when the connection ends [default for any method but GET]'
            cand --reconnect 'Reconnect whatever the method is [default for GET]'
            cand --no-default-drop-notices 'Only --drop-notice and --drop-event say what a drop notice is'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;demo'= {
            cand -o 'How to tell it: the story, or its figures as one JSON object [default: pretty]'
            cand --output 'How to tell it: the story, or its figures as one JSON object [default: pretty]'
            cand --on-drop 'What to do at the drop notice'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;completions'= {
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'ssectl;help'= {
            cand tail 'Follow streams from now'
            cand resume 'Continue streams from their stored cursors, for scripts and exports'
            cand replay 'Read the replay window of a stream again; moves no cursor'
            cand checkpoint 'List, show, change and move stored cursors'
            cand probe 'Diagnose a stream, and how its server treats a slow reader'
            cand serve 'Serve events to clients of any speed, with a policy for each type'
            cand demo 'Show the whole story in ten seconds, on loopback'
            cand completions 'Print a completion script'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'ssectl;help;tail'= {
        }
        &'ssectl;help;resume'= {
        }
        &'ssectl;help;replay'= {
        }
        &'ssectl;help;checkpoint'= {
            cand list 'List all stored streams'
            cand show 'Show all that is known of one stream, with its gaps'
            cand set 'Set a stream''s cursors by hand'
            cand reset 'Forget a stream, or go back to the start of its replay window'
            cand export 'Print cursors as JSON, to be imported on another machine'
            cand import 'Store cursors that `export` printed'
            cand verify 'Check the database; exit code 6 if anything is not as it must be'
            cand path 'Print the path of the database'
        }
        &'ssectl;help;checkpoint;list'= {
        }
        &'ssectl;help;checkpoint;show'= {
        }
        &'ssectl;help;checkpoint;set'= {
        }
        &'ssectl;help;checkpoint;reset'= {
        }
        &'ssectl;help;checkpoint;export'= {
        }
        &'ssectl;help;checkpoint;import'= {
        }
        &'ssectl;help;checkpoint;verify'= {
        }
        &'ssectl;help;checkpoint;path'= {
        }
        &'ssectl;help;probe'= {
        }
        &'ssectl;help;serve'= {
        }
        &'ssectl;help;demo'= {
        }
        &'ssectl;help;completions'= {
        }
        &'ssectl;help;help'= {
        }
    ]
    $completions[$command]
}
