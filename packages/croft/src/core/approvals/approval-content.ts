import type { ApprovalRow } from '../accounts/ports/call-tables.ts';
import type { ApprovalView } from '../accounts/ports/registry.ts';
import type { Vault } from '../accounts/ports/vault.ts';
import { capInput } from './cap-input.ts';
import { cutVisible } from './visible-text.ts';

/** The sealed part of an approval. */
interface ApprovalContent {
  readonly input: unknown;
  readonly preview: string;
  /** The session whose person is asked, if it is not the calling session. */
  readonly inbox?: string | undefined;
}

type ContentOf = Pick<ApprovalRow, 'accountId' | 'approvalId'>;

const maxInputChars = 256 * 1024;
const maxPreviewChars = 64 * 1024;

/** Seals the content, shortened to what a person can read. A call is identified by its hash, never by this content. */
export function sealContent(vault: Vault, of: ContentOf, { input, preview, inbox }: ApprovalContent): string {
  const content = { input: capInput(input, maxInputChars), preview: cutVisible(preview, maxPreviewChars), inbox };
  return vault.seal(JSON.stringify(content), about(of));
}

export function openContent(vault: Vault, row: ApprovalRow): ApprovalContent {
  return JSON.parse(vault.open(row.content, about(row))) as ApprovalContent;
}

export function toApprovalView(vault: Vault, row: ApprovalRow): ApprovalView {
  const { accountId: _, content: __, version: ___, ...rest } = row;
  const { input, preview, inbox } = openContent(vault, row);
  return { ...rest, input, preview, ...(inbox !== undefined && { inbox }) };
}

function about({ accountId, approvalId }: ContentOf): string {
  return `approvals/${accountId}/${approvalId}`;
}
