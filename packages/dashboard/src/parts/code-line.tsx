import { toCodePieces } from '../text/highlight-code.ts';
import { hasUnseen } from '../text/mark-hidden-characters.ts';
import { Marked } from './marked-text.tsx';

/** One line of code, coloured, with marks for hidden characters. */
export function CodeLine({ text, path }: { readonly text: string; readonly path: string }) {
  const isPlain = !hasUnseen(text);
  return (
    <>
      {toCodePieces(text, path).map(({ text: piece, kind }, index) => {
        const shown = isPlain ? piece : <Marked text={piece} />;
        return kind === 'plain' ? (
          shown
        ) : (
          <span class={`code-${kind}`} key={index}>
            {shown}
          </span>
        );
      })}
    </>
  );
}
