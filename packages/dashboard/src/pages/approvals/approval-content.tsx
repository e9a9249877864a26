import type { Approval } from '@croft/protocol';
import { useState } from 'preact/hooks';
import { DiffBody } from '../../parts/diff-view.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Marked } from '../../parts/marked-text.tsx';
import { toCount } from '../../text/format-times-and-sizes.ts';
import { parseUnifiedDiff } from '../../text/unified-diff.ts';

const foldedLines = 60;
const foldedLength = 6000;

/** Whether a person does not see all of it at once. */
export function isFolded({ preview }: Pick<Approval, 'preview'>): boolean {
  return isCut(preview) || preview.length > foldedLength || preview.split('\n').length > foldedLines;
}

/** The server shows the beginning. All of it is in the arguments. */
function isCut(preview: string): boolean {
  return preview.startsWith('(This is only the first part');
}

interface ApprovalContentProps {
  readonly approval: Approval;
  readonly isUnfolded: boolean;
  onUnfold(): void;
}

/** The exact text of the call, character by character. */
export function ApprovalContent({ approval, isUnfolded, onUnfold }: ApprovalContentProps) {
  const { preview, tool } = approval;
  const lines = preview.split('\n');
  const shown = isUnfolded ? preview : lines.slice(0, foldedLines).join('\n').slice(0, foldedLength);
  const isDiff = /^@@ -\d/m.test(preview);
  return (
    <div class="approval-content">
      {isDiff ? (
        <DiffPreview preview={shown} />
      ) : (
        <pre class="exactly" tabIndex={0} role="group" aria-label="Exactly what would run">
          {tool === 'bash' && <span class="prompt">$ </span>}
          <Marked text={shown} isSpelt />
        </pre>
      )}
      {!isUnfolded && (
        <button type="button" class="button unfold" onClick={onUnfold}>
          <Icon name="down" /> Show all {toCount(lines.length, 'line')}
        </button>
      )}
      <ExactInput approval={approval} isNeeded={isUnfolded && isCut(preview)} />
    </div>
  );
}

function DiffPreview({ preview }: { readonly preview: string }) {
  const start = preview.search(/^@@ -\d/m);
  const { hunks } = parseUnifiedDiff(preview);
  return (
    <>
      <pre class="exactly-head">
        <Marked text={preview.slice(0, Math.max(0, start)).trimEnd()} isSpelt />
      </pre>
      <DiffBody hunks={hunks} path="the file" layout="unified" isSpelt />
    </>
  );
}

/** The arguments as the tool gets them, for everything that the preview leaves out. */
function ExactInput({ approval, isNeeded }: { readonly approval: Approval; readonly isNeeded: boolean }) {
  const [wantsOpen, setOpen] = useState(false);
  const isOpen = wantsOpen || isNeeded;
  return (
    <details class="exact-input" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Arguments of {approval.tool}</summary>
      {isOpen && (
        <pre class="exactly" tabIndex={0} role="group" aria-label="Arguments">
          <Marked text={JSON.stringify(approval.input, null, 2) ?? ''} />
        </pre>
      )}
    </details>
  );
}
