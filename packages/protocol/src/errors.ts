export interface ErrorTraits {
  readonly kind: string;
  readonly status: number;
  /** The next step, for a person or a model. */
  readonly hint: string;
  /** The message already has the next step, in words that programs compare. The hint is not added to the text. */
  readonly plain?: true;
}

/** Every error that a caller can see. A new one is one line here. */
export const errorCatalog = {
  E_INVALID_INPUT: { kind: 'invalid_input', status: 400, hint: 'Fix the named argument and call again.' },
  E_UNKNOWN_TOOL: { kind: 'unknown_tool', status: 404, hint: 'List the tools to see the names offered here.' },
  E_WORKSPACE_REQUIRED: {
    kind: 'workspace_required',
    status: 400,
    hint: 'Pass `workspace` with one of the configured names.',
    plain: true,
  },
  E_UNKNOWN_WORKSPACE: {
    kind: 'unknown_workspace',
    status: 404,
    hint: 'Pass `workspace` with one of the configured names.',
    plain: true,
  },
  E_NO_PROJECT: {
    kind: 'no_project',
    status: 404,
    hint: 'Run the command with bash, or declare it in croft.toml.',
    plain: true,
  },
  E_LANGUAGE_REQUIRED: {
    kind: 'language_required',
    status: 400,
    hint: 'Pass `language` with one of the detected names, or `all`.',
    plain: true,
  },
  E_UNKNOWN_LANGUAGE: {
    kind: 'unknown_language',
    status: 404,
    hint: 'Pass `language` with one of the detected names, or `all`.',
    plain: true,
  },
  E_TOOL_MISSING: {
    kind: 'tool_missing',
    status: 424,
    hint: 'Install the dependencies of the project first; nothing is fetched unasked.',
  },
  E_SANDBOX_VIOLATION: {
    kind: 'sandbox_violation',
    status: 403,
    hint: 'Use a path inside the workspace, relative to its root.',
  },
  E_WORKSPACE_GONE: {
    kind: 'workspace_gone',
    status: 410,
    hint: 'Ask the operator to restore the directory and restart croft.',
  },
  E_CONTROL_FILE: {
    kind: 'sandbox_violation',
    status: 403,
    hint: 'Leave this file as it is, or ask the person to change it; the message says what else can be done.',
    plain: true,
  },
  E_SANDBOX_UNAVAILABLE: {
    kind: 'sandbox_unavailable',
    status: 503,
    hint:
      'The next call opens a new sandbox if this one has ended; check what a command did before you run it again. ' +
      'If no sandbox opens, ask the operator: `croft doctor` says what this host lacks. Nothing runs without a sandbox.',
  },
  E_RUNNER_LOST: {
    kind: 'runner_lost',
    status: 503,
    hint: 'The call may have run. Check what it did before you repeat it.',
  },
  E_INVALID_PATH: { kind: 'invalid_path', status: 400, hint: 'Use names of ordinary characters, joined by slashes.' },
  E_NAME_TOO_LONG: { kind: 'invalid_path', status: 400, hint: 'Use a shorter file name or path.' },
  E_FILE_NOT_FOUND: { kind: 'file_not_found', status: 404, hint: 'List the parent directory to see what exists.' },
  E_NOT_A_FILE: { kind: 'not_a_file', status: 400, hint: 'Name a regular file; use list or glob for directories.' },
  E_NOT_A_DIRECTORY: { kind: 'not_a_directory', status: 400, hint: 'Name a directory, or end the path at the file.' },
  E_DANGLING_LINK: {
    kind: 'dangling_link',
    status: 409,
    hint: 'Delete the link, or name the file that it should point to.',
  },
  E_LINK_LOOP: { kind: 'link_loop', status: 409, hint: 'Name the file directly, not through these links.' },
  E_ALREADY_EXISTS: {
    kind: 'already_exists',
    status: 409,
    hint: 'Choose another name, or delete what has this name first.',
  },
  E_DIRECTORY_NOT_EMPTY: {
    kind: 'directory_not_empty',
    status: 409,
    hint: 'Pass `recursive: true` to delete the directory with everything in it.',
  },
  E_NOT_READ: { kind: 'not_read', status: 409, hint: 'Read the file, then make the change again.', plain: true },
  E_NO_SYMBOL: {
    kind: 'no_symbol',
    status: 404,
    hint: 'Use one of the names in the message, or find the symbol with search_code or outline.',
  },
  E_AMBIGUOUS: {
    kind: 'ambiguous',
    status: 409,
    hint: 'Name one of the listed places: by its container, by file_path and line, or with file_path by its number from 0: name[1].',
  },
  E_NOT_PARSED: {
    kind: 'not_parsed',
    status: 422,
    hint: 'Nothing was changed. Correct the text, or change the file with edit.',
  },
  E_NO_SERVER: {
    kind: 'no_server',
    status: 424,
    hint: 'Use grep, search_code and outline, which need no language server, or install the one that the message names.',
  },
  E_CODE_SERVER: {
    kind: 'code_server',
    status: 502,
    hint: 'The language server failed, and nothing was changed. Use grep, search_code and outline, which need no server.',
  },
  E_STALE: {
    kind: 'stale',
    status: 409,
    hint: 'Read the file again, then make the change to its present content.',
  },
  E_NO_MATCH: {
    kind: 'no_match',
    status: 409,
    hint: 'Read the file and copy old_string from it exactly, white space included.',
  },
  E_MANY_MATCHES: {
    kind: 'many_matches',
    status: 409,
    hint: 'Add surrounding lines to old_string, or set replace_all to true.',
    plain: true,
  },
  E_REDACTION_MARK: {
    kind: 'redaction_mark',
    status: 409,
    hint:
      'Nothing was written. Keep each mark on the line where you read it, in the same file: the secret that it hides stays ' +
      'there. To change lines around it, use edit; to copy it, use a command (cp, mv, sed). To write about it, name the ' +
      'secret without the brackets.',
  },
  E_TOO_LARGE: {
    kind: 'too_large',
    status: 413,
    hint: 'Send or read a smaller part, or use a command that streams the content.',
  },
  E_BAD_PATTERN: { kind: 'bad_pattern', status: 400, hint: 'Correct the pattern as the message says.' },
  E_PERMISSION_DENIED: {
    kind: 'permission_denied',
    status: 403,
    hint: 'Ask the operator to change the owner or mode of that path.',
  },
  E_STORAGE_FULL: {
    kind: 'storage_full',
    status: 507,
    hint: 'Delete files that are not needed, or tell the operator. Check what the call did before you repeat any of it.',
  },
  E_CONFLICT: {
    kind: 'conflict',
    status: 409,
    hint: 'Look at the named paths as they are now, decide which content should stand, and write it.',
  },
  E_STORAGE_UNAVAILABLE: {
    kind: 'storage_unavailable',
    status: 503,
    hint:
      'Check what the call did before you repeat it: a part of it may have happened. Changes that could not be stored ' +
      'wait here, and are stored when the storage answers.',
  },
  E_STORAGE_FAILED: {
    kind: 'storage_failed',
    status: 503,
    hint: 'Check what the call did before you repeat it. If the error persists, tell the operator.',
  },
  E_COMMAND_REJECTED: {
    kind: 'command_rejected',
    status: 400,
    hint: 'This command can never work in a sandbox. Leave out what the message names.',
  },
  E_COMMAND_NOT_STARTED: {
    kind: 'command_not_started',
    status: 400,
    hint: 'Check the name. This shows whether the program is installed: command -v NAME',
  },
  E_MCP_SERVER: {
    kind: 'mcp_server',
    status: 502,
    hint:
      'The next call starts the server again. Check what the tool did before you repeat the call. If the error persists, ' +
      'the message of the server says why.',
  },
  E_MCP_TOOL: { kind: 'mcp_tool', status: 422, hint: 'This is the message of the tool itself.', plain: true },
  E_NOT_RUNNING: {
    kind: 'not_running',
    status: 409,
    hint: 'The command has ended. If it is still needed, start it again with run_in_background.',
  },
  E_TOO_MANY: { kind: 'too_many', status: 409, hint: 'Nothing was done. End or close one of them first.' },
  E_TIMEOUT: {
    kind: 'timeout',
    status: 504,
    hint: 'Check what the call did before you repeat it. A search or a read may be repeated: make it narrower.',
  },
  E_CANCELLED: {
    kind: 'cancelled',
    status: 499,
    hint: 'The caller cancelled the call. Check what it did before you repeat it.',
  },
  E_INTERRUPTED: {
    kind: 'interrupted',
    status: 409,
    hint: 'List the tools and workspaces to see what you still have, and check what was done before you go on.',
  },
  E_UNAUTHORIZED: {
    kind: 'unauthorized',
    status: 401,
    hint: 'Send Authorization: Bearer with a token or key that this address takes.',
  },
  E_FORBIDDEN: {
    kind: 'forbidden',
    status: 403,
    hint: 'Use a key with the scope that the message names, of an active account, at the server’s own address.',
  },
  E_NOT_FOUND: { kind: 'not_found', status: 404, hint: 'Check the name or id against a list of what exists.' },
  E_READ_ONLY: {
    kind: 'read_only',
    status: 403,
    hint: 'Choose a workspace that has a sandbox, or ask the operator to give this one a sandbox.',
    plain: true,
  },
  E_APPROVAL_REQUIRED: {
    kind: 'approval_required',
    status: 202,
    hint: 'A person has to approve this call. Repeat exactly this call when a person has approved it.',
  },
  E_APPROVAL_DENIED: {
    kind: 'approval_denied',
    status: 403,
    hint: 'Do not repeat the call. Do it another way, or ask the person what they want.',
  },
  E_APPROVAL_EXPIRED: {
    kind: 'approval_expired',
    status: 410,
    hint: 'Nothing ran. Make the call again: a new approval will be asked for.',
  },
  E_APPROVAL_MISMATCH: {
    kind: 'approval_mismatch',
    status: 409,
    hint: 'An approval is for one exact call of one session. Make that call, or ask for a new approval.',
  },
  E_APPROVAL_SETTLED: {
    kind: 'approval_settled',
    status: 409,
    hint: 'An approval is decided once. Look at its state; a new call asks for a new approval.',
  },
  // Nothing ran: a client may send the same request to the server that the message names.
  E_OTHER_SERVER: {
    kind: 'other_server',
    status: 421,
    hint: 'Send the call to the server that the message names. A workspace in a bucket works on every server.',
  },
  E_IN_USE: { kind: 'in_use', status: 409, hint: 'Remove it from everything that the message names first.' },
  E_PRECONDITION_FAILED: {
    kind: 'precondition_failed',
    status: 412,
    hint: 'Nothing was changed. Get it again, and make the change to its present content.',
  },
  E_RANGE: { kind: 'range', status: 416, hint: 'Ask for bytes below the size of the file, or for all of it.' },
  E_IDEMPOTENCY_CONFLICT: {
    kind: 'idempotency_conflict',
    status: 409,
    hint: 'Nothing was done. Use a new Idempotency-Key for another request.',
  },
  E_METHOD_NOT_ALLOWED: { kind: 'method_not_allowed', status: 405, hint: 'Use one of the methods in Allow.' },
  // Not 429: clients would wait and try again for ever, and waiting does not help.
  E_QUOTA: { kind: 'quota', status: 409, hint: 'Delete what is no longer needed, or ask the operator for more.' },
  E_UNREACHABLE: {
    kind: 'unreachable',
    status: 503,
    hint: 'Nothing was sent. Check the address, and that the server runs.',
  },
  E_CONNECTION_LOST: {
    kind: 'connection_lost',
    status: 503,
    hint: 'The request may have been carried out. Check what it did before you repeat it.',
  },
  E_COMMAND_FAILED: {
    kind: 'command_failed',
    status: 422,
    hint: 'The command ran. `details.result` has its output; correct what it complains about.',
  },
  E_SERVER_LOST: {
    kind: 'server_lost',
    status: 503,
    hint: 'The call may have run. Check what it did before you repeat it.',
  },
  // One server answers another: the caller never sees it.
  E_FORWARD_LOOP: {
    kind: 'forward_loop',
    status: 508,
    hint: 'Send the request without the header croft-forward, which servers add by themselves.',
  },
  E_RATE_LIMITED: {
    kind: 'rate_limited',
    status: 429,
    hint: 'Nothing was done. Wait as long as Retry-After says, then send the request again.',
  },
  E_STOPPING: {
    kind: 'stopping',
    status: 503,
    hint: 'Nothing was done. Make the call again in a moment, on the server that takes its place.',
  },
  E_INTERNAL: { kind: 'internal', status: 500, hint: 'Tell the operator; the server’s log has the cause.' },
} as const satisfies Record<string, ErrorTraits>;

export type ErrorCode = keyof typeof errorCatalog;
