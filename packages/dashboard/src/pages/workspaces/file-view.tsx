import { useEffect, useState } from 'preact/hooks';
import { setQuery, useQuery } from '../../browser/router.ts';
import { useShortcuts } from '../../browser/shortcuts.ts';
import { CodeLine } from '../../parts/code-line.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Failure, Skeleton } from '../../parts/loading-states.tsx';
import { Marked } from '../../parts/marked-text.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { type RequestError, toRequestError } from '../../server/request.ts';
import { toCount, toSize } from '../../text/format-times-and-sizes.ts';
import { type FileAddress, readFileContent, type ShownFile, toFileUrl } from './file-content.ts';

/** One file, as text with marks, as pixels, or as something to download. Never as a document. */
export function FileView(address: FileAddress) {
  const { content, error } = useFileContent(address);
  const close = () => setQuery({ file: undefined, line: undefined });
  useShortcuts({ Escape: close });
  return (
    <section class="panel file-view" aria-label={address.path}>
      <header class="panel-head">
        <h2>
          <code>
            <Marked text={address.path} />
          </code>
        </h2>
        {content && <span class="muted file-facts">{describe(content)}</span>}
        {content?.kind === 'text' && !content.isCut && (
          <CopyButton text={content.lines.join('\n')} label="Copy the file" />
        )}
        <a class="icon-button" href={toFileUrl(address)} download aria-label="Download the file" title="Download">
          <Icon name="download" />
        </a>
        <button type="button" class="icon-button" aria-label="Close the file" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {error ? (
        <Failure error={error} />
      ) : content ? (
        <Content content={content} path={address.path} />
      ) : (
        <Skeleton rows={12} />
      )}
    </section>
  );
}

function useFileContent({ root, path, snapshot }: FileAddress) {
  const [state, setState] = useState<{ content?: ShownFile; error?: RequestError }>({});
  useEffect(() => {
    const stopping = new AbortController();
    let url: string | undefined;
    readFileContent({ root, path, snapshot }, stopping.signal).then(
      (content) => {
        if (content.kind === 'image') url = content.url;
        if (!stopping.signal.aborted) setState({ content });
      },
      (thrown) => {
        if (!stopping.signal.aborted) setState({ error: toRequestError(thrown) });
      },
    );
    return () => {
      stopping.abort();
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [root, path, snapshot]);
  return state;
}

function describe(content: ShownFile): string {
  const size = toSize(content.size);
  if (content.kind !== 'text') return size;
  const { lines, lineEnd, isCut } = content;
  return [size, isCut ? 'the beginning' : toCount(lines.length, 'line'), lineEnd === 'LF' ? '' : lineEnd]
    .filter((part) => part !== '')
    .join(' · ');
}

function Content({ content, path }: { readonly content: ShownFile; readonly path: string }) {
  if (content.kind === 'text') return <TextContent content={content} path={path} />;
  if (content.kind === 'image') return <img class="file-image" src={content.url} alt={path} />;
  const what = content.kind === 'binary' ? 'This file is binary.' : 'This text is not UTF-8.';
  return (
    <Empty>
      <p>
        {what} It has {toSize(content.size)}; download it to see it.
      </p>
    </Empty>
  );
}

function TextContent({ content, path }: { readonly content: ShownFile & { kind: 'text' }; readonly path: string }) {
  const { lines, isCut, size } = content;
  const line = Number(useQuery('line') ?? 0);
  useEffect(() => {
    const list = document.querySelector('.file-view .list');
    if (line > 0 && list) list.scrollTop = Math.max(0, (line - 5) * 20);
  }, [line, content]);
  if (lines.length === 0)
    return (
      <Empty>
        <p>This file is empty.</p>
      </Empty>
    );
  const rows = lines.map((text, index) => ({ text, number: index + 1 }));
  return (
    <div class="code">
      {isCut && <p class="note">The beginning of {toSize(size)}. Download the file to see all of it.</p>}
      <VirtualList
        rows={rows}
        label={`Content of ${path}`}
        keyOf={({ number }) => String(number)}
        render={({ text, number }) => (
          <div class={number === line ? 'code-line code-found' : 'code-line'}>
            <span class="line-number">{number}</span>
            <CodeLine text={text} path={path} />
          </div>
        )}
      />
    </div>
  );
}
