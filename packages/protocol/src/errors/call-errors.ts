import type { ErrorTraits } from './error-traits.ts';

/** Errors of tool calls: their arguments, workspaces, sandboxes, commands and code. */
export const callErrors = {
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
} as const satisfies Record<string, ErrorTraits>;
