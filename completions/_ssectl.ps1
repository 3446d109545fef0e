
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'ssectl' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'ssectl'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'ssectl' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('tail', 'tail', [CompletionResultType]::ParameterValue, 'Follow streams from now')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Continue streams from their stored cursors, for scripts and exports')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Read the replay window of a stream again; moves no cursor')
            [CompletionResult]::new('checkpoint', 'checkpoint', [CompletionResultType]::ParameterValue, 'List, show, change and move stored cursors')
            [CompletionResult]::new('probe', 'probe', [CompletionResultType]::ParameterValue, 'Diagnose a stream, and how its server treats a slow reader')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve events to clients of any speed, with a policy for each type')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Show the whole story in ten seconds, on loopback')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ssectl;tail' {
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Name the stream of a URL [default: host, port, path and query]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Send this request header (repeatable); `@FILE` reads one a line')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Send this request header (repeatable); `@FILE` reads one a line')
            [CompletionResult]::new('-X', '-X ', [CompletionResultType]::ParameterName, 'Use this request method [default: GET, or POST with --data]')
            [CompletionResult]::new('--request', '--request', [CompletionResultType]::ParameterName, 'Use this request method [default: GET, or POST with --data]')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Authenticate with a user name and a password (HTTP Basic)')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Authenticate with a user name and a password (HTTP Basic)')
            [CompletionResult]::new('--bearer-env', '--bearer-env', [CompletionResultType]::ParameterName, 'Authenticate with the bearer token in this environment variable')
            [CompletionResult]::new('--bearer-cmd', '--bearer-cmd', [CompletionResultType]::ParameterName, 'Authenticate with the bearer token that this shell command prints')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, and no others')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Present the client certificate in this PEM file')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'The private key of the client certificate, if it is not in the same file')
            [CompletionResult]::new('-x', '-x', [CompletionResultType]::ParameterName, 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]')
            [CompletionResult]::new('--proxy', '--proxy', [CompletionResultType]::ParameterName, 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]')
            [CompletionResult]::new('--connect-timeout', '--connect-timeout', [CompletionResultType]::ParameterName, 'Give up connecting after this time [default: 10s]')
            [CompletionResult]::new('--idle-timeout', '--idle-timeout', [CompletionResultType]::ParameterName, 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]')
            [CompletionResult]::new('--retry-initial', '--retry-initial', [CompletionResultType]::ParameterName, 'Wait this long before the first reconnection [default: 1s]')
            [CompletionResult]::new('--retry-max', '--retry-max', [CompletionResultType]::ParameterName, 'Wait at most this long between attempts, and at least 100ms [default: 30s]')
            [CompletionResult]::new('--max-retries', '--max-retries', [CompletionResultType]::ParameterName, 'Give up after this many attempts in a row that failed [default: never]')
            [CompletionResult]::new('--send-cursor', '--send-cursor', [CompletionResultType]::ParameterName, 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]')
            [CompletionResult]::new('--start-param', '--start-param', [CompletionResultType]::ParameterName, 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`')
            [CompletionResult]::new('--last-event-id', '--last-event-id', [CompletionResultType]::ParameterName, 'Start after this id at the first connection, whatever is stored (one STREAM only)')
            [CompletionResult]::new('--id-from', '--id-from', [CompletionResultType]::ParameterName, 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`')
            [CompletionResult]::new('--no-cursor-event', '--no-cursor-event', [CompletionResultType]::ParameterName, 'Ids of events of this type move no cursor (repeatable), such as `keepalive`')
            [CompletionResult]::new('--max-event-bytes', '--max-event-bytes', [CompletionResultType]::ParameterName, 'The largest event that is accepted [default: 64MiB]')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'Keep cursors in this file [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--drop-notice', '--drop-notice', [CompletionResultType]::ParameterName, 'A comment that matches is a drop notice (repeatable)')
            [CompletionResult]::new('--drop-event', '--drop-event', [CompletionResultType]::ParameterName, 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'The replay window: how far back a recovery reads [default: 15m]')
            [CompletionResult]::new('--dedupe', '--dedupe', [CompletionResultType]::ParameterName, 'What makes two deliveries the same: event, id, a JSON pointer, or none [default: event]')
            [CompletionResult]::new('--drop-cooldown', '--drop-cooldown', [CompletionResultType]::ParameterName, 'At most one recovery in this time; a drop notice within it waits [default: 60s]')
            [CompletionResult]::new('--max-replay', '--max-replay', [CompletionResultType]::ParameterName, 'Give a recovery up as partial once it would deliver more events than this [default: no limit]')
            [CompletionResult]::new('--on-drop', '--on-drop', [CompletionResultType]::ParameterName, 'What to do at a drop notice [default: recover]')
            [CompletionResult]::new('--on-expired', '--on-expired', [CompletionResultType]::ParameterName, 'What to do when the server no longer has the cursor [default: stop]')
            [CompletionResult]::new('--snapshot-url', '--snapshot-url', [CompletionResultType]::ParameterName, 'When the server no longer has the cursor, deliver the current state from this URL, and go on live')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]')
            [CompletionResult]::new('--read-ahead', '--read-ahead', [CompletionResultType]::ParameterName, 'How far the network may run ahead of a slow output, in memory [default: 8MiB]')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Write only events of this type (repeatable); cursors move all the same')
            [CompletionResult]::new('--event', '--event', [CompletionResultType]::ParameterName, 'Write only events of this type (repeatable); cursors move all the same')
            [CompletionResult]::new('--grep', '--grep', [CompletionResultType]::ParameterName, 'Write only events whose data matches (repeatable); cursors move all the same')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'End after this many events were written')
            [CompletionResult]::new('--count', '--count', [CompletionResultType]::ParameterName, 'End after this many events were written')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'End after this time')
            [CompletionResult]::new('--until-id', '--until-id', [CompletionResultType]::ParameterName, 'End with the event of this id, which is still written (one STREAM only)')
            [CompletionResult]::new('--until-data', '--until-data', [CompletionResultType]::ParameterName, 'End with the event whose data is this text, such as `[DONE]`')
            [CompletionResult]::new('--until-idle', '--until-idle', [CompletionResultType]::ParameterName, 'End when no event came for this time while connected, and no recovery waits')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'What gives way while the output is behind: TYPE=coalesce:/POINTER or TYPE=drop (repeatable)')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--http1.1', '--http1.1', [CompletionResultType]::ParameterName, 'Use HTTP/1.1, never HTTP/2')
            [CompletionResult]::new('--http2-prior-knowledge', '--http2-prior-knowledge', [CompletionResultType]::ParameterName, 'Use HTTP/2 without asking, also where there is no TLS to ask in')
            [CompletionResult]::new('--compressed', '--compressed', [CompletionResultType]::ParameterName, 'Ask for a compressed response')
            [CompletionResult]::new('--no-reconnect', '--no-reconnect', [CompletionResultType]::ParameterName, 'End when the connection ends [default for any method but GET]')
            [CompletionResult]::new('--reconnect', '--reconnect', [CompletionResultType]::ParameterName, 'Reconnect whatever the method is [default for GET]')
            [CompletionResult]::new('--no-store', '--no-store', [CompletionResultType]::ParameterName, 'Keep everything in memory, and forget it at the end')
            [CompletionResult]::new('--no-default-drop-notices', '--no-default-drop-notices', [CompletionResultType]::ParameterName, 'Only --drop-notice and --drop-event say what a drop notice is')
            [CompletionResult]::new('--comments', '--comments', [CompletionResultType]::ParameterName, 'Write comments too')
            [CompletionResult]::new('--notices', '--notices', [CompletionResultType]::ParameterName, 'Write notices of ssectl''s own too: connections, drop notices, recoveries')
            [CompletionResult]::new('--json-data', '--json-data', [CompletionResultType]::ParameterName, 'Embed data as a JSON value where it is one')
            [CompletionResult]::new('--stats', '--stats', [CompletionResultType]::ParameterName, 'Print a summary on stderr at the end')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing on stderr but warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing on stderr but warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on stderr, such as which position was chosen and why; `-vv` says still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on stderr, such as which position was chosen and why; `-vv` says still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;resume' {
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Name the stream of a URL [default: host, port, path and query]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Send this request header (repeatable); `@FILE` reads one a line')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Send this request header (repeatable); `@FILE` reads one a line')
            [CompletionResult]::new('-X', '-X ', [CompletionResultType]::ParameterName, 'Use this request method [default: GET, or POST with --data]')
            [CompletionResult]::new('--request', '--request', [CompletionResultType]::ParameterName, 'Use this request method [default: GET, or POST with --data]')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Authenticate with a user name and a password (HTTP Basic)')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Authenticate with a user name and a password (HTTP Basic)')
            [CompletionResult]::new('--bearer-env', '--bearer-env', [CompletionResultType]::ParameterName, 'Authenticate with the bearer token in this environment variable')
            [CompletionResult]::new('--bearer-cmd', '--bearer-cmd', [CompletionResultType]::ParameterName, 'Authenticate with the bearer token that this shell command prints')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, and no others')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Present the client certificate in this PEM file')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'The private key of the client certificate, if it is not in the same file')
            [CompletionResult]::new('-x', '-x', [CompletionResultType]::ParameterName, 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]')
            [CompletionResult]::new('--proxy', '--proxy', [CompletionResultType]::ParameterName, 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]')
            [CompletionResult]::new('--connect-timeout', '--connect-timeout', [CompletionResultType]::ParameterName, 'Give up connecting after this time [default: 10s]')
            [CompletionResult]::new('--idle-timeout', '--idle-timeout', [CompletionResultType]::ParameterName, 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]')
            [CompletionResult]::new('--retry-initial', '--retry-initial', [CompletionResultType]::ParameterName, 'Wait this long before the first reconnection [default: 1s]')
            [CompletionResult]::new('--retry-max', '--retry-max', [CompletionResultType]::ParameterName, 'Wait at most this long between attempts, and at least 100ms [default: 30s]')
            [CompletionResult]::new('--max-retries', '--max-retries', [CompletionResultType]::ParameterName, 'Give up after this many attempts in a row that failed [default: never]')
            [CompletionResult]::new('--send-cursor', '--send-cursor', [CompletionResultType]::ParameterName, 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]')
            [CompletionResult]::new('--start-param', '--start-param', [CompletionResultType]::ParameterName, 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`')
            [CompletionResult]::new('--last-event-id', '--last-event-id', [CompletionResultType]::ParameterName, 'Start after this id at the first connection, whatever is stored (one STREAM only)')
            [CompletionResult]::new('--id-from', '--id-from', [CompletionResultType]::ParameterName, 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`')
            [CompletionResult]::new('--no-cursor-event', '--no-cursor-event', [CompletionResultType]::ParameterName, 'Ids of events of this type move no cursor (repeatable), such as `keepalive`')
            [CompletionResult]::new('--max-event-bytes', '--max-event-bytes', [CompletionResultType]::ParameterName, 'The largest event that is accepted [default: 64MiB]')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'Keep cursors in this file [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--drop-notice', '--drop-notice', [CompletionResultType]::ParameterName, 'A comment that matches is a drop notice (repeatable)')
            [CompletionResult]::new('--drop-event', '--drop-event', [CompletionResultType]::ParameterName, 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'The replay window: how far back a recovery reads [default: 15m]')
            [CompletionResult]::new('--dedupe', '--dedupe', [CompletionResultType]::ParameterName, 'What makes two deliveries the same: event, id, a JSON pointer, or none [default: event]')
            [CompletionResult]::new('--drop-cooldown', '--drop-cooldown', [CompletionResultType]::ParameterName, 'At most one recovery in this time; a drop notice within it waits [default: 60s]')
            [CompletionResult]::new('--max-replay', '--max-replay', [CompletionResultType]::ParameterName, 'Give a recovery up as partial once it would deliver more events than this [default: no limit]')
            [CompletionResult]::new('--on-drop', '--on-drop', [CompletionResultType]::ParameterName, 'What to do at a drop notice [default: recover]')
            [CompletionResult]::new('--on-expired', '--on-expired', [CompletionResultType]::ParameterName, 'What to do when the server no longer has the cursor [default: stop]')
            [CompletionResult]::new('--snapshot-url', '--snapshot-url', [CompletionResultType]::ParameterName, 'When the server no longer has the cursor, deliver the current state from this URL, and go on live')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]')
            [CompletionResult]::new('--read-ahead', '--read-ahead', [CompletionResultType]::ParameterName, 'How far the network may run ahead of a slow output, in memory [default: 8MiB]')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Write only events of this type (repeatable); cursors move all the same')
            [CompletionResult]::new('--event', '--event', [CompletionResultType]::ParameterName, 'Write only events of this type (repeatable); cursors move all the same')
            [CompletionResult]::new('--grep', '--grep', [CompletionResultType]::ParameterName, 'Write only events whose data matches (repeatable); cursors move all the same')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'End after this many events were written')
            [CompletionResult]::new('--count', '--count', [CompletionResultType]::ParameterName, 'End after this many events were written')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'End after this time')
            [CompletionResult]::new('--until-id', '--until-id', [CompletionResultType]::ParameterName, 'End with the event of this id, which is still written (one STREAM only)')
            [CompletionResult]::new('--until-data', '--until-data', [CompletionResultType]::ParameterName, 'End with the event whose data is this text, such as `[DONE]`')
            [CompletionResult]::new('--until-idle', '--until-idle', [CompletionResultType]::ParameterName, 'End when no event came for this time while connected, and no recovery waits')
            [CompletionResult]::new('--initial', '--initial', [CompletionResultType]::ParameterName, 'Where to start when nothing is stored: live, or after an id [default: live]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Append records to this file, each event once whatever happens, instead of to stdout')
            [CompletionResult]::new('--commit-interval', '--commit-interval', [CompletionResultType]::ParameterName, 'How often what was written to FILE is made durable [default: 1s, or after 8MiB]')
            [CompletionResult]::new('--rotate', '--rotate', [CompletionResultType]::ParameterName, 'Finish the file at this size or age and begin another; its name needs `{time}`')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--http1.1', '--http1.1', [CompletionResultType]::ParameterName, 'Use HTTP/1.1, never HTTP/2')
            [CompletionResult]::new('--http2-prior-knowledge', '--http2-prior-knowledge', [CompletionResultType]::ParameterName, 'Use HTTP/2 without asking, also where there is no TLS to ask in')
            [CompletionResult]::new('--compressed', '--compressed', [CompletionResultType]::ParameterName, 'Ask for a compressed response')
            [CompletionResult]::new('--no-reconnect', '--no-reconnect', [CompletionResultType]::ParameterName, 'End when the connection ends [default for any method but GET]')
            [CompletionResult]::new('--reconnect', '--reconnect', [CompletionResultType]::ParameterName, 'Reconnect whatever the method is [default for GET]')
            [CompletionResult]::new('--no-store', '--no-store', [CompletionResultType]::ParameterName, 'Keep everything in memory, and forget it at the end')
            [CompletionResult]::new('--no-default-drop-notices', '--no-default-drop-notices', [CompletionResultType]::ParameterName, 'Only --drop-notice and --drop-event say what a drop notice is')
            [CompletionResult]::new('--comments', '--comments', [CompletionResultType]::ParameterName, 'Write comments too')
            [CompletionResult]::new('--notices', '--notices', [CompletionResultType]::ParameterName, 'Write notices of ssectl''s own too: connections, drop notices, recoveries')
            [CompletionResult]::new('--json-data', '--json-data', [CompletionResultType]::ParameterName, 'Embed data as a JSON value where it is one')
            [CompletionResult]::new('--stats', '--stats', [CompletionResultType]::ParameterName, 'Print a summary on stderr at the end')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing on stderr but warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing on stderr but warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on stderr, such as which position was chosen and why; `-vv` says still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on stderr, such as which position was chosen and why; `-vv` says still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;replay' {
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Name the stream of a URL [default: host, port, path and query]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Send this request header (repeatable); `@FILE` reads one a line')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Send this request header (repeatable); `@FILE` reads one a line')
            [CompletionResult]::new('-X', '-X ', [CompletionResultType]::ParameterName, 'Use this request method [default: GET, or POST with --data]')
            [CompletionResult]::new('--request', '--request', [CompletionResultType]::ParameterName, 'Use this request method [default: GET, or POST with --data]')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Authenticate with a user name and a password (HTTP Basic)')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Authenticate with a user name and a password (HTTP Basic)')
            [CompletionResult]::new('--bearer-env', '--bearer-env', [CompletionResultType]::ParameterName, 'Authenticate with the bearer token in this environment variable')
            [CompletionResult]::new('--bearer-cmd', '--bearer-cmd', [CompletionResultType]::ParameterName, 'Authenticate with the bearer token that this shell command prints')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, and no others')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Present the client certificate in this PEM file')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'The private key of the client certificate, if it is not in the same file')
            [CompletionResult]::new('-x', '-x', [CompletionResultType]::ParameterName, 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]')
            [CompletionResult]::new('--proxy', '--proxy', [CompletionResultType]::ParameterName, 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]')
            [CompletionResult]::new('--connect-timeout', '--connect-timeout', [CompletionResultType]::ParameterName, 'Give up connecting after this time [default: 10s]')
            [CompletionResult]::new('--idle-timeout', '--idle-timeout', [CompletionResultType]::ParameterName, 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]')
            [CompletionResult]::new('--retry-initial', '--retry-initial', [CompletionResultType]::ParameterName, 'Wait this long before the first reconnection [default: 1s]')
            [CompletionResult]::new('--retry-max', '--retry-max', [CompletionResultType]::ParameterName, 'Wait at most this long between attempts, and at least 100ms [default: 30s]')
            [CompletionResult]::new('--max-retries', '--max-retries', [CompletionResultType]::ParameterName, 'Give up after this many attempts in a row that failed [default: never]')
            [CompletionResult]::new('--send-cursor', '--send-cursor', [CompletionResultType]::ParameterName, 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]')
            [CompletionResult]::new('--start-param', '--start-param', [CompletionResultType]::ParameterName, 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`')
            [CompletionResult]::new('--last-event-id', '--last-event-id', [CompletionResultType]::ParameterName, 'Start after this id at the first connection, whatever is stored (one STREAM only)')
            [CompletionResult]::new('--id-from', '--id-from', [CompletionResultType]::ParameterName, 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`')
            [CompletionResult]::new('--no-cursor-event', '--no-cursor-event', [CompletionResultType]::ParameterName, 'Ids of events of this type move no cursor (repeatable), such as `keepalive`')
            [CompletionResult]::new('--max-event-bytes', '--max-event-bytes', [CompletionResultType]::ParameterName, 'The largest event that is accepted [default: 64MiB]')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'Keep cursors in this file [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--drop-notice', '--drop-notice', [CompletionResultType]::ParameterName, 'A comment that matches is a drop notice (repeatable)')
            [CompletionResult]::new('--drop-event', '--drop-event', [CompletionResultType]::ParameterName, 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'pretty, json, data, raw or a template [default: pretty on a terminal, else json]')
            [CompletionResult]::new('--read-ahead', '--read-ahead', [CompletionResultType]::ParameterName, 'How far the network may run ahead of a slow output, in memory [default: 8MiB]')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Write only events of this type (repeatable); cursors move all the same')
            [CompletionResult]::new('--event', '--event', [CompletionResultType]::ParameterName, 'Write only events of this type (repeatable); cursors move all the same')
            [CompletionResult]::new('--grep', '--grep', [CompletionResultType]::ParameterName, 'Write only events whose data matches (repeatable); cursors move all the same')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'End after this many events were written')
            [CompletionResult]::new('--count', '--count', [CompletionResultType]::ParameterName, 'End after this many events were written')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'End after this time')
            [CompletionResult]::new('--until-id', '--until-id', [CompletionResultType]::ParameterName, 'End with the event of this id, which is still written (one STREAM only)')
            [CompletionResult]::new('--until-data', '--until-data', [CompletionResultType]::ParameterName, 'End with the event whose data is this text, such as `[DONE]`')
            [CompletionResult]::new('--until-idle', '--until-idle', [CompletionResultType]::ParameterName, 'End when no event came for this time while connected, and no recovery waits')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--http1.1', '--http1.1', [CompletionResultType]::ParameterName, 'Use HTTP/1.1, never HTTP/2')
            [CompletionResult]::new('--http2-prior-knowledge', '--http2-prior-knowledge', [CompletionResultType]::ParameterName, 'Use HTTP/2 without asking, also where there is no TLS to ask in')
            [CompletionResult]::new('--compressed', '--compressed', [CompletionResultType]::ParameterName, 'Ask for a compressed response')
            [CompletionResult]::new('--no-reconnect', '--no-reconnect', [CompletionResultType]::ParameterName, 'End when the connection ends [default for any method but GET]')
            [CompletionResult]::new('--reconnect', '--reconnect', [CompletionResultType]::ParameterName, 'Reconnect whatever the method is [default for GET]')
            [CompletionResult]::new('--no-default-drop-notices', '--no-default-drop-notices', [CompletionResultType]::ParameterName, 'Only --drop-notice and --drop-event say what a drop notice is')
            [CompletionResult]::new('--comments', '--comments', [CompletionResultType]::ParameterName, 'Write comments too')
            [CompletionResult]::new('--notices', '--notices', [CompletionResultType]::ParameterName, 'Write notices of ssectl''s own too: connections, drop notices, recoveries')
            [CompletionResult]::new('--json-data', '--json-data', [CompletionResultType]::ParameterName, 'Embed data as a JSON value where it is one')
            [CompletionResult]::new('--stats', '--stats', [CompletionResultType]::ParameterName, 'Print a summary on stderr at the end')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing on stderr but warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing on stderr but warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more on stderr, such as which position was chosen and why; `-vv` says still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more on stderr, such as which position was chosen and why; `-vv` says still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;checkpoint' {
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List all stored streams')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show all that is known of one stream, with its gaps')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Set a stream''s cursors by hand')
            [CompletionResult]::new('reset', 'reset', [CompletionResultType]::ParameterValue, 'Forget a stream, or go back to the start of its replay window')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Print cursors as JSON, to be imported on another machine')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Store cursors that `export` printed')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the database; exit code 6 if anything is not as it must be')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print the path of the database')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ssectl;checkpoint;list' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;checkpoint;show' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;checkpoint;set' {
            [CompletionResult]::new('--latest', '--latest', [CompletionResultType]::ParameterName, 'The id after which the next `resume` goes on')
            [CompletionResult]::new('--lagging', '--lagging', [CompletionResultType]::ParameterName, 'The id from which a recovery would read [default: the same]')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Do it although a process reads the stream, and fence that process off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;checkpoint;reset' {
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('--to-lagging', '--to-lagging', [CompletionResultType]::ParameterName, 'Keep the stream and set `latest` back to `lagging`')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Do it although a process reads the stream, and fence that process off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;checkpoint;export' {
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'ssectl;checkpoint;import' {
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Begin new records of streams that are stored already, and fence off processes that read them')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;checkpoint;verify' {
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'ssectl;checkpoint;path' {
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'ssectl;checkpoint;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List all stored streams')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show all that is known of one stream, with its gaps')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Set a stream''s cursors by hand')
            [CompletionResult]::new('reset', 'reset', [CompletionResultType]::ParameterValue, 'Forget a stream, or go back to the start of its replay window')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Print cursors as JSON, to be imported on another machine')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Store cursors that `export` printed')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the database; exit code 6 if anything is not as it must be')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print the path of the database')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ssectl;checkpoint;help;list' {
            break
        }
        'ssectl;checkpoint;help;show' {
            break
        }
        'ssectl;checkpoint;help;set' {
            break
        }
        'ssectl;checkpoint;help;reset' {
            break
        }
        'ssectl;checkpoint;help;export' {
            break
        }
        'ssectl;checkpoint;help;import' {
            break
        }
        'ssectl;checkpoint;help;verify' {
            break
        }
        'ssectl;checkpoint;help;path' {
            break
        }
        'ssectl;checkpoint;help;help' {
            break
        }
        'ssectl;probe' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Send this request header (repeatable); `@FILE` reads one a line')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Send this request header (repeatable); `@FILE` reads one a line')
            [CompletionResult]::new('-X', '-X ', [CompletionResultType]::ParameterName, 'Use this request method [default: GET, or POST with --data]')
            [CompletionResult]::new('--request', '--request', [CompletionResultType]::ParameterName, 'Use this request method [default: GET, or POST with --data]')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Authenticate with a user name and a password (HTTP Basic)')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Authenticate with a user name and a password (HTTP Basic)')
            [CompletionResult]::new('--bearer-env', '--bearer-env', [CompletionResultType]::ParameterName, 'Authenticate with the bearer token in this environment variable')
            [CompletionResult]::new('--bearer-cmd', '--bearer-cmd', [CompletionResultType]::ParameterName, 'Authenticate with the bearer token that this shell command prints')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, and no others')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Present the client certificate in this PEM file')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'The private key of the client certificate, if it is not in the same file')
            [CompletionResult]::new('-x', '-x', [CompletionResultType]::ParameterName, 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]')
            [CompletionResult]::new('--proxy', '--proxy', [CompletionResultType]::ParameterName, 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]')
            [CompletionResult]::new('--connect-timeout', '--connect-timeout', [CompletionResultType]::ParameterName, 'Give up connecting after this time [default: 10s]')
            [CompletionResult]::new('--idle-timeout', '--idle-timeout', [CompletionResultType]::ParameterName, 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]')
            [CompletionResult]::new('--retry-initial', '--retry-initial', [CompletionResultType]::ParameterName, 'Wait this long before the first reconnection [default: 1s]')
            [CompletionResult]::new('--retry-max', '--retry-max', [CompletionResultType]::ParameterName, 'Wait at most this long between attempts, and at least 100ms [default: 30s]')
            [CompletionResult]::new('--max-retries', '--max-retries', [CompletionResultType]::ParameterName, 'Give up after this many attempts in a row that failed [default: never]')
            [CompletionResult]::new('--send-cursor', '--send-cursor', [CompletionResultType]::ParameterName, 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]')
            [CompletionResult]::new('--start-param', '--start-param', [CompletionResultType]::ParameterName, 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`')
            [CompletionResult]::new('--last-event-id', '--last-event-id', [CompletionResultType]::ParameterName, 'Start after this id at the first connection, whatever is stored (one STREAM only)')
            [CompletionResult]::new('--id-from', '--id-from', [CompletionResultType]::ParameterName, 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`')
            [CompletionResult]::new('--no-cursor-event', '--no-cursor-event', [CompletionResultType]::ParameterName, 'Ids of events of this type move no cursor (repeatable), such as `keepalive`')
            [CompletionResult]::new('--max-event-bytes', '--max-event-bytes', [CompletionResultType]::ParameterName, 'The largest event that is accepted [default: 64MiB]')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'How long the stream is watched [default: 30s]')
            [CompletionResult]::new('--limit-rate', '--limit-rate', [CompletionResultType]::ParameterName, 'How many bytes a second the slow reader takes [default: 2k, or a quarter of what comes if that is less]')
            [CompletionResult]::new('--slow-for', '--slow-for', [CompletionResultType]::ParameterName, 'Let the slow reader take nothing at all for this long, and then everything')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'pretty or json [default: pretty on a terminal, else json]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'pretty or json [default: pretty on a terminal, else json]')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write the report to this file too, as one HTML page')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--http1.1', '--http1.1', [CompletionResultType]::ParameterName, 'Use HTTP/1.1, never HTTP/2')
            [CompletionResult]::new('--http2-prior-knowledge', '--http2-prior-knowledge', [CompletionResultType]::ParameterName, 'Use HTTP/2 without asking, also where there is no TLS to ask in')
            [CompletionResult]::new('--compressed', '--compressed', [CompletionResultType]::ParameterName, 'Ask for a compressed response')
            [CompletionResult]::new('--no-reconnect', '--no-reconnect', [CompletionResultType]::ParameterName, 'End when the connection ends [default for any method but GET]')
            [CompletionResult]::new('--reconnect', '--reconnect', [CompletionResultType]::ParameterName, 'Reconnect whatever the method is [default for GET]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing on stderr but warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing on stderr but warnings and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;serve' {
            [CompletionResult]::new('--relay', '--relay', [CompletionResultType]::ParameterName, 'Serve what another stream gives: one connection there, many readers here')
            [CompletionResult]::new('--synthetic', '--synthetic', [CompletionResultType]::ParameterName, 'Make events up: types with their rates, keys and sizes')
            [CompletionResult]::new('--speed', '--speed', [CompletionResultType]::ParameterName, 'How fast a file is played, by the `time` of its records [default: 1x; max where it has none]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Begin when this many clients are connected [default: 1 for a file, else 0]')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'What happens to a type''s events while a client is slow (repeatable); or a TOML file of such rules')
            [CompletionResult]::new('--together', '--together', [CompletionResultType]::ParameterName, 'Types that keep their order among each other (repeatable), such as `price,position_closed`')
            [CompletionResult]::new('--queue-bytes', '--queue-bytes', [CompletionResultType]::ParameterName, 'At most so much waits for one client, whatever its types [default: 1MiB]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Keep the log in this SQLite file too, so that cursors outlive the server')
            [CompletionResult]::new('--log-events', '--log-events', [CompletionResultType]::ParameterName, 'How many events can be read again')
            [CompletionResult]::new('--replay-cap', '--replay-cap', [CompletionResultType]::ParameterName, 'A client that has missed more events than this is sent none of them, but a `resync` event')
            [CompletionResult]::new('--expired', '--expired', [CompletionResultType]::ParameterName, 'What a cursor gets that the log does not have')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Where to listen; port 0 takes a free one')
            [CompletionResult]::new('--heartbeat', '--heartbeat', [CompletionResultType]::ParameterName, 'Send a comment after this long without anything else [default: 15s]')
            [CompletionResult]::new('--retry', '--retry', [CompletionResultType]::ParameterName, 'When clients whose stream the server ends are to come back')
            [CompletionResult]::new('--send-buffer', '--send-buffer', [CompletionResultType]::ParameterName, 'The kernel''s send buffer of each connection: the smaller, the sooner a slow client is felt')
            [CompletionResult]::new('--max-clients', '--max-clients', [CompletionResultType]::ParameterName, 'At most so many streams at once; a further one gets 503')
            [CompletionResult]::new('--header-timeout', '--header-timeout', [CompletionResultType]::ParameterName, 'How long the head of a request may take')
            [CompletionResult]::new('--max-header-bytes', '--max-header-bytes', [CompletionResultType]::ParameterName, 'How large the head of a request may be')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'Send this request header (repeatable); `@FILE` reads one a line')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Send this request header (repeatable); `@FILE` reads one a line')
            [CompletionResult]::new('-X', '-X ', [CompletionResultType]::ParameterName, 'Use this request method [default: GET, or POST with --data]')
            [CompletionResult]::new('--request', '--request', [CompletionResultType]::ParameterName, 'Use this request method [default: GET, or POST with --data]')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Authenticate with a user name and a password (HTTP Basic)')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Authenticate with a user name and a password (HTTP Basic)')
            [CompletionResult]::new('--bearer-env', '--bearer-env', [CompletionResultType]::ParameterName, 'Authenticate with the bearer token in this environment variable')
            [CompletionResult]::new('--bearer-cmd', '--bearer-cmd', [CompletionResultType]::ParameterName, 'Authenticate with the bearer token that this shell command prints')
            [CompletionResult]::new('--cacert', '--cacert', [CompletionResultType]::ParameterName, 'Trust the certificates in this PEM file, and no others')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Present the client certificate in this PEM file')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'The private key of the client certificate, if it is not in the same file')
            [CompletionResult]::new('-x', '-x', [CompletionResultType]::ParameterName, 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]')
            [CompletionResult]::new('--proxy', '--proxy', [CompletionResultType]::ParameterName, 'Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]')
            [CompletionResult]::new('--connect-timeout', '--connect-timeout', [CompletionResultType]::ParameterName, 'Give up connecting after this time [default: 10s]')
            [CompletionResult]::new('--idle-timeout', '--idle-timeout', [CompletionResultType]::ParameterName, 'Reconnect when nothing came for this time: auto, off or a duration [default: auto]')
            [CompletionResult]::new('--retry-initial', '--retry-initial', [CompletionResultType]::ParameterName, 'Wait this long before the first reconnection [default: 1s]')
            [CompletionResult]::new('--retry-max', '--retry-max', [CompletionResultType]::ParameterName, 'Wait at most this long between attempts, and at least 100ms [default: 30s]')
            [CompletionResult]::new('--max-retries', '--max-retries', [CompletionResultType]::ParameterName, 'Give up after this many attempts in a row that failed [default: never]')
            [CompletionResult]::new('--send-cursor', '--send-cursor', [CompletionResultType]::ParameterName, 'Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]')
            [CompletionResult]::new('--start-param', '--start-param', [CompletionResultType]::ParameterName, 'Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`')
            [CompletionResult]::new('--last-event-id', '--last-event-id', [CompletionResultType]::ParameterName, 'Start after this id at the first connection, whatever is stored (one STREAM only)')
            [CompletionResult]::new('--id-from', '--id-from', [CompletionResultType]::ParameterName, 'Take the id from the data, where this JSON pointer leads, such as `/sequence_number`')
            [CompletionResult]::new('--no-cursor-event', '--no-cursor-event', [CompletionResultType]::ParameterName, 'Ids of events of this type move no cursor (repeatable), such as `keepalive`')
            [CompletionResult]::new('--max-event-bytes', '--max-event-bytes', [CompletionResultType]::ParameterName, 'The largest event that is accepted [default: 64MiB]')
            [CompletionResult]::new('--drop-notice', '--drop-notice', [CompletionResultType]::ParameterName, 'A comment that matches is a drop notice (repeatable)')
            [CompletionResult]::new('--drop-event', '--drop-event', [CompletionResultType]::ParameterName, 'Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]')
            [CompletionResult]::new('--once', '--once', [CompletionResultType]::ParameterName, 'End when the source has ended and every client has been given everything')
            [CompletionResult]::new('--number', '--number', [CompletionResultType]::ParameterName, 'Number the events, instead of leaving them the ids that their source gave them')
            [CompletionResult]::new('--allow-remote', '--allow-remote', [CompletionResultType]::ParameterName, 'Allow an address that other machines can reach, and any name in `Host`: whoever gets there reads everything')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing on stderr but warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing on stderr but warnings and errors')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate')
            [CompletionResult]::new('--http1.1', '--http1.1', [CompletionResultType]::ParameterName, 'Use HTTP/1.1, never HTTP/2')
            [CompletionResult]::new('--http2-prior-knowledge', '--http2-prior-knowledge', [CompletionResultType]::ParameterName, 'Use HTTP/2 without asking, also where there is no TLS to ask in')
            [CompletionResult]::new('--compressed', '--compressed', [CompletionResultType]::ParameterName, 'Ask for a compressed response')
            [CompletionResult]::new('--no-reconnect', '--no-reconnect', [CompletionResultType]::ParameterName, 'End when the connection ends [default for any method but GET]')
            [CompletionResult]::new('--reconnect', '--reconnect', [CompletionResultType]::ParameterName, 'Reconnect whatever the method is [default for GET]')
            [CompletionResult]::new('--no-default-drop-notices', '--no-default-drop-notices', [CompletionResultType]::ParameterName, 'Only --drop-notice and --drop-event say what a drop notice is')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;demo' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to tell it: the story, or its figures as one JSON object [default: pretty]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to tell it: the story, or its figures as one JSON object [default: pretty]')
            [CompletionResult]::new('--on-drop', '--on-drop', [CompletionResultType]::ParameterName, 'What to do at the drop notice')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ssectl;help' {
            [CompletionResult]::new('tail', 'tail', [CompletionResultType]::ParameterValue, 'Follow streams from now')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Continue streams from their stored cursors, for scripts and exports')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Read the replay window of a stream again; moves no cursor')
            [CompletionResult]::new('checkpoint', 'checkpoint', [CompletionResultType]::ParameterValue, 'List, show, change and move stored cursors')
            [CompletionResult]::new('probe', 'probe', [CompletionResultType]::ParameterValue, 'Diagnose a stream, and how its server treats a slow reader')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve events to clients of any speed, with a policy for each type')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Show the whole story in ten seconds, on loopback')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ssectl;help;tail' {
            break
        }
        'ssectl;help;resume' {
            break
        }
        'ssectl;help;replay' {
            break
        }
        'ssectl;help;checkpoint' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List all stored streams')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show all that is known of one stream, with its gaps')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Set a stream''s cursors by hand')
            [CompletionResult]::new('reset', 'reset', [CompletionResultType]::ParameterValue, 'Forget a stream, or go back to the start of its replay window')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Print cursors as JSON, to be imported on another machine')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Store cursors that `export` printed')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the database; exit code 6 if anything is not as it must be')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print the path of the database')
            break
        }
        'ssectl;help;checkpoint;list' {
            break
        }
        'ssectl;help;checkpoint;show' {
            break
        }
        'ssectl;help;checkpoint;set' {
            break
        }
        'ssectl;help;checkpoint;reset' {
            break
        }
        'ssectl;help;checkpoint;export' {
            break
        }
        'ssectl;help;checkpoint;import' {
            break
        }
        'ssectl;help;checkpoint;verify' {
            break
        }
        'ssectl;help;checkpoint;path' {
            break
        }
        'ssectl;help;probe' {
            break
        }
        'ssectl;help;serve' {
            break
        }
        'ssectl;help;demo' {
            break
        }
        'ssectl;help;completions' {
            break
        }
        'ssectl;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
