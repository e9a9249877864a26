import type { ErrorTraits } from './error-traits.ts';

/** Errors about files, their contents, and where they are stored. */
export const fileErrors = {
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
  E_RANGE: { kind: 'range', status: 416, hint: 'Ask for bytes below the size of the file, or for all of it.' },
  // Not 429: clients would wait and try again for ever, and waiting does not help.
  E_QUOTA: { kind: 'quota', status: 409, hint: 'Delete what is no longer needed, or ask the operator for more.' },
} as const satisfies Record<string, ErrorTraits>;
