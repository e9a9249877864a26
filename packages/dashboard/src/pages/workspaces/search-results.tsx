import { withQuery } from '../../browser/router.ts';
import { Empty, Loaded } from '../../parts/loading-states.tsx';
import { Marked } from '../../parts/marked-text.tsx';
import { toSearch } from '../../server/request.ts';
import { useResource } from '../../server/use-resource.ts';
import { toCount } from '../../text/format-times-and-sizes.ts';

interface SearchAnswer {
  readonly matches: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  readonly isCut: boolean;
}

interface SearchResultsProps {
  readonly root: string;
  readonly pattern: string;
  readonly folder: string;
}

export function SearchResults({ root, pattern, folder }: SearchResultsProps) {
  const query = toSearch({ pattern, literal: true, ignoreCase: true, path: folder, limit: 200 });
  const found = useResource<SearchAnswer>(`${root}/search${query}`);
  return (
    <Loaded from={found} rows={8}>
      {({ matches, isCut }) =>
        matches.length === 0 ? (
          <Empty>
            <p>No file has this text.</p>
          </Empty>
        ) : (
          <div class="matches">
            <p class="note muted" role="status">
              {toCount(matches.length, 'line')}
              {isCut && ', and more: search for something longer'}
            </p>
            <ul>
              {matches.map(({ path, line, text }) => (
                <li key={`${path}:${line}`}>
                  <a class="match" href={withQuery({ file: path, line: String(line) })}>
                    <span class="match-place">
                      <Marked text={path} />:{line}
                    </span>
                    <code>
                      <Marked text={text.trim().slice(0, 300)} />
                    </code>
                  </a>
                </li>
              ))}
            </ul>
          </div>
        )
      }
    </Loaded>
  );
}
