import { useMemo, useState } from 'preact/hooks';
import { findChangedPart } from '../text/find-changed-part.ts';
import { type DiffHunk, type DiffLine, pairChangedLines, parseUnifiedDiff, toSplitRows } from '../text/unified-diff.ts';
import { CodeLine } from './code-line.tsx';
import { Icon } from './icon.tsx';
import { Marked } from './marked-text.tsx';

export type DiffLayout = 'unified' | 'split';

interface DiffFileProps {
  readonly path: string;
  /** A unified diff. Left out: the content is no text, or too long. */
  readonly diff: string | undefined;
  /** Kind of change if there is no text to compare: `added`, `removed`, `changed`. */
  readonly change: string;
  readonly layout: DiffLayout;
  readonly isOpen?: boolean;
}

/** The changes of one file: pale lines, stronger words, a head that stays in view. */
export function DiffFile({ path, diff, change, layout, isOpen = true }: DiffFileProps) {
  const [open, setOpen] = useState(isOpen);
  const parsed = useMemo(() => (diff === undefined ? undefined : parseUnifiedDiff(diff)), [diff]);
  return (
    <section class="diff-file">
      <h3 class="diff-head">
        <button type="button" class="diff-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? 'down' : 'right'} />
          <code class="diff-path">
            <Marked text={path} />
          </code>
        </button>
        <span class="diff-kind">{change}</span>
        {parsed && <DiffCounts added={parsed.added} removed={parsed.removed} />}
      </h3>
      {open &&
        (parsed ? (
          <DiffBody hunks={parsed.hunks} path={path} layout={layout} />
        ) : (
          <p class="diff-none">No text to compare: the content is binary, or too long.</p>
        ))}
    </section>
  );
}

function DiffCounts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span class="counts">
      <span class="count-added">+{added}</span> <span class="count-removed">−{removed}</span>
    </span>
  );
}

interface DiffBodyProps {
  readonly hunks: readonly DiffHunk[];
  readonly path: string;
  readonly layout: DiffLayout;
  /** Whether the server has written hidden characters as `<U+202E>`. */
  readonly isSpelt?: boolean;
}

export function DiffBody({ hunks, path, layout, isSpelt = false }: DiffBodyProps) {
  return (
    <div class={`diff diff-${layout}`} tabIndex={0} role="group" aria-label={`Changes of ${path}`}>
      <table>
        <tbody>
          {hunks.map((hunk) => (
            <Hunk key={`${hunk.before} ${hunk.after}`} hunk={hunk} path={path} layout={layout} isSpelt={isSpelt} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface HunkProps extends Required<Omit<DiffBodyProps, 'hunks'>> {
  readonly hunk: DiffHunk;
}

function Hunk({ hunk, path, layout, isSpelt }: HunkProps) {
  const pairs = useMemo(() => pairChangedLines(hunk.lines), [hunk]);
  const show = (line: DiffLine | undefined) =>
    line && <LineText line={line} other={pairs.get(line)} path={path} isSpelt={isSpelt} />;
  const width = layout === 'split' ? 4 : 3;
  return (
    <>
      <tr class="diff-hunk">
        <td colSpan={width}>
          <span>line {hunk.after || hunk.before}</span> <Marked text={hunk.heading} />
        </td>
      </tr>
      {layout === 'split'
        ? toSplitRows(hunk.lines).map(({ left, right }, index) => (
            <tr key={index}>
              <td class="diff-number">{left?.before}</td>
              <td class={`diff-text diff-${left?.kind ?? 'none'}`}>{show(left)}</td>
              <td class="diff-number">{right?.after}</td>
              <td class={`diff-text diff-${right?.kind ?? 'none'}`}>{show(right)}</td>
            </tr>
          ))
        : hunk.lines.map((line, index) => (
            <tr class={`diff-${line.kind}`} key={index}>
              <td class="diff-number">{line.before}</td>
              <td class="diff-number">{line.after}</td>
              <td class={`diff-text diff-${line.kind}`}>{show(line)}</td>
            </tr>
          ))}
    </>
  );
}

const signs = { added: '+', removed: '−', same: ' ', note: '\\' } as const;

interface LineTextProps {
  readonly line: DiffLine;
  readonly other: DiffLine | undefined;
  readonly path: string;
  readonly isSpelt: boolean;
}

function LineText({ line, other, path, isSpelt }: LineTextProps) {
  return (
    <>
      <span class="diff-sign">{signs[line.kind]}</span>
      {other ? (
        findChangedPart(line.text, other.text).map(({ text, isChanged }) =>
          isChanged ? (
            <span class="diff-word" key="changed">
              <Marked text={text} isSpelt={isSpelt} />
            </span>
          ) : (
            <Marked text={text} isSpelt={isSpelt} />
          ),
        )
      ) : isSpelt ? (
        <Marked text={line.text} isSpelt />
      ) : (
        <CodeLine text={line.text} path={path} />
      )}
    </>
  );
}
