import { AppError } from '@croft/protocol';

const maxNamed = 20;

/** Makes the error of a refused call, with what was reverted of its changes. */
export function revertedCallError(
  { code, message, details, ownHint: hint }: AppError,
  paths: readonly string[],
  isStillOver: boolean,
): AppError {
  const what =
    paths.length === 0
      ? 'Nothing of it could be taken back'
      : `What the call changed was taken back: ${nameSome(paths)}`;
  const rest = isStillOver
    ? '. The workspace still holds more than it may, and no command runs in it until files are deleted'
    : '';
  const about = { ...details, takenBack: paths.slice(0, maxNamed), isStillOver };
  return new AppError(code, `${message}. ${what}${rest}`, { details: about, hint });
}

function nameSome(paths: readonly string[]): string {
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : '';
  return paths.slice(0, maxNamed).join(', ') + more;
}
