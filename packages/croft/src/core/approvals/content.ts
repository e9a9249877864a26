import type { ApprovalRow } from '../accounts/records.ts';
import type { ApprovalView } from '../accounts/registry.ts';
import type { Vault } from '../accounts/vault.ts';
import { capInput } from './cap-input.ts';
import { cutVisible } from './visible-text.ts';

/** What is sealed of an approval. */
export interface ApprovalContent {
  readonly input: unknown;
  readonly preview: string;
  /** The session whose person is asked, when it is not the one that calls. */
  readonly inbox?: string | undefined;
}

export type ContentOf = Pick<ApprovalRow, 'accountId' | 'approvalId'>;

const maxInputChars = 256 * 1024;
const maxPreviewChars = 64 * 1024;

/** Cut to what a person can look at: what a call is bound by is its hash, never what is kept here. */
export function sealContent(vault: Vault, of: ContentOf, { input, preview, inbox }: ApprovalContent): string {
  const content = { input: capInput(input, maxInputChars), preview: cutVisible(preview, maxPreviewChars), inbox };
  return vault.seal(JSON.stringify(content), about(of));
}

export function openContent(vault: Vault, row: ApprovalRow): ApprovalContent {
  return JSON.parse(vault.open(row.content, about(row))) as ApprovalContent;
}

export function toView(vault: Vault, row: ApprovalRow): ApprovalView {
  const { accountId: _, content: __, version: ___, ...rest } = row;
  const { input, preview, inbox } = openContent(vault, row);
  return { ...rest, input, preview, ...(inbox !== undefined && { inbox }) };
}

function about({ accountId, approvalId }: ContentOf): string {
  return `approvals/${accountId}/${approvalId}`;
}
