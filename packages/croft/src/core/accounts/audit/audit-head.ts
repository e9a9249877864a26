import { z } from 'zod';
import type { SigningRing } from '../../../lib/crypto/signing-ring.ts';
import { parseJson } from '../../../lib/text/parse-json.ts';

const Link = z.object({ rows: z.int().nonnegative(), at: z.iso.datetime() });

/** Row count and last hash of the trail at a moment, stored apart from its rows. */
const Head = Link.extend({
  hash: z.string(),
  /** The first head: deletions before it are not noticed. */
  since: Link,
  /** Set when rows were found missing: how many were left. */
  cut: Link.optional(),
});
export type AuditHead = z.output<typeof Head>;

const Signed = Head.extend({ signature: z.string() });
type SignedHead = z.output<typeof Signed>;

/**
 * Signs a head as one line of JSON, and reads it. `open` returns `undefined` for a text that no key of this ring has
 * signed.
 */
export function createHeadSeal(ring: SigningRing) {
  return {
    seal(head: AuditHead): string {
      const parsed = Head.parse(head);
      return JSON.stringify({ ...parsed, signature: ring.sign(JSON.stringify(parsed)) });
    },
    open(text: string): SignedHead | undefined {
      const { success, data } = Signed.safeParse(parseJson(text));
      if (!success) return undefined;
      return ring.check(JSON.stringify(Head.parse(data)), data.signature) === 'valid' ? data : undefined;
    },
  };
}

export type HeadSeal = ReturnType<typeof createHeadSeal>;
