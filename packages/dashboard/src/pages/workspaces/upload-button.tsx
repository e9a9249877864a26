import { useRef, useState } from 'preact/hooks';
import { announce } from '../../browser/announce.ts';
import { Icon } from '../../parts/icon.tsx';
import { Failure } from '../../parts/loading-states.tsx';
import { type RequestError, send, toRequestError, toSearch } from '../../server/request.ts';
import { invalidate } from '../../server/use-resource.ts';
import { toSize } from '../../text/format-times-and-sizes.ts';

/** Puts files into a folder, one after the other. A file that is stopped leaves nothing behind. */
export function UploadButton({ root, folder }: { readonly root: string; readonly folder: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [current, setCurrent] = useState<{ name: string; size: number; stop(): void } | undefined>(undefined);
  const [error, setError] = useState<RequestError | undefined>(undefined);
  const upload = async (files: readonly File[]) => {
    const stopping = new AbortController();
    setError(undefined);
    try {
      for (const file of files) {
        setCurrent({ name: file.name, size: file.size, stop: () => stopping.abort() });
        const path = folder === '' ? file.name : `${folder}/${file.name}`;
        await send('PUT', `${root}/file${toSearch({ path })}`, { raw: file, signal: stopping.signal });
      }
      announce('Uploaded');
    } catch (thrown) {
      if (!stopping.signal.aborted) setError(toRequestError(thrown));
    } finally {
      setCurrent(undefined);
      invalidate(`${root}/`);
    }
  };
  return (
    <>
      <input
        ref={field}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          void upload([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      {current ? (
        <button type="button" class="button" onClick={current.stop}>
          <Icon name="stop" /> Stop {current.name} ({toSize(current.size)})
        </button>
      ) : (
        <button type="button" class="button" onClick={() => field.current?.click()}>
          <Icon name="upload" /> <span class="button-words">Upload</span>
        </button>
      )}
      {error && <Failure error={error} />}
    </>
  );
}
