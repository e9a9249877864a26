import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { RequestError } from '../server/request.ts';
import type { Resource } from '../server/use-resource.ts';
import { Marked } from './marked-text.tsx';

/** Appears after 150 ms, so that a quick answer does not flicker. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <div class="skeleton-row" key={index} />
      ))}
    </div>
  );
}

/** Text for an empty page: one sentence, and the next step. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

export function Failure({ error, onRetry }: { readonly error: RequestError; readonly onRetry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>
        <strong>
          <Marked text={error.message} />
        </strong>
      </p>
      <p>
        <Marked text={error.hint} />
      </p>
      <p class="failure-code">
        <code>{error.code}</code>
        {error.requestId && (
          <>
            {' '}
            request <code>{error.requestId}</code>
          </>
        )}
        {onRetry && isWorthRetrying(error) && (
          <button type="button" class="button" onClick={onRetry}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

/** What is missing or not allowed stays so. */
function isWorthRetrying({ status }: RequestError): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500;
}

interface LoadedProps<Answer> {
  readonly from: ReadonlySignal<Resource<Answer>>;
  readonly rows?: number;
  onRetry?(): void;
  children(data: Answer): ComponentChildren;
}

/**
 * Shows the answer of a request, or its failure, or a skeleton while it loads. Earlier data stays while the server is
 * away.
 */
export function Loaded<Answer>({ from, rows, onRetry, children }: LoadedProps<Answer>) {
  const { data, error } = from.value;
  if (data !== undefined) return <>{children(data)}</>;
  return error ? <Failure error={error} {...(onRetry && { onRetry })} /> : <Skeleton {...(rows && { rows })} />;
}
