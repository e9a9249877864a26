import type { AuditRow } from './call-tables.ts';
import type { Paged, PageRequest } from './pages.ts';

export interface AuditFilter {
  readonly kind?: 'call' | 'approval' | 'violation' | 'change' | undefined;
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  /** A name or an id. */
  readonly workspace?: string | undefined;
  readonly tool?: string | undefined;
  readonly outcome?: 'ok' | 'error' | 'asked' | 'denied' | 'violation' | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly text?: string | undefined;
}

/** The account, or the operator, whose rows are read. */
interface AuditOwner {
  readonly accountId: string;
}

/** The audit trail of one account, for people. */
export interface AuditLog {
  /**
   * A page may have fewer rows than the limit and still a `next`, because one request looks at a limited number of rows.
   * `position` is the newest row when the list was read, from which events continue.
   */
  list(owner: AuditOwner, request: AuditRequest): Promise<Paged<AuditRow> & { readonly position: string }>;
}

interface AuditRequest extends PageRequest, AuditFilter {
  /** Absent: `oldest` first. */
  readonly order?: 'oldest' | 'newest' | undefined;
}
