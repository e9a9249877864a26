import { AppError } from '@croft/protocol';
import { toUri } from '../core/code/ports/file-uris.ts';
import type { LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';
import type { ChangedPaths } from '../core/code/ports/language-servers.ts';
import { readSource, type SourceText } from '../core/code/ports/source-text.ts';
import type { Files } from '../core/files/files.ts';
import { languageIdOfFile } from './language-id-of-file.ts';

interface OpenDocumentsOptions {
  readonly definition: LanguageServerDefinition;
  readonly root: string;
  readonly files: Pick<Files, 'read'>;
  /** Runs before a document is opened that is not open. */
  beforeOpen(path: string): Promise<void>;
  notify(method: string, params: unknown): void;
}

interface OpenDocument {
  readonly source: SourceText;
  readonly version: number;
}

const maxOpen = 64;

/** The documents that are open in a server, with the texts of the disk. The least used one is closed first. */
export function createOpenDocuments({ definition, root, files, beforeOpen, notify }: OpenDocumentsOptions) {
  const documents = new Map<string, OpenDocument>();
  let nextVersion = 1;

  function close(path: string): void {
    if (documents.delete(path)) notify('textDocument/didClose', { textDocument: { uri: toUri(root, path) } });
  }

  function put(path: string, source: SourceText): void {
    const version = nextVersion;
    nextVersion += 1;
    const uri = toUri(root, path);
    const isOpen = documents.delete(path);
    documents.set(path, { source, version });
    const { text } = source;
    if (isOpen) notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
    else
      notify('textDocument/didOpen', {
        textDocument: { uri, version, text, languageId: languageIdOfFile(definition, path) ?? definition.name },
      });
    for (const oldest of documents.keys()) {
      if (documents.size <= maxOpen) break;
      close(oldest);
    }
  }

  async function refresh(path: string): Promise<void> {
    const known = documents.get(path);
    const source = await readSource(files, path).catch((thrown) => {
      if (AppError.is(thrown)) return undefined;
      throw thrown;
    });
    if (!source) close(path);
    else if (source.version !== known?.source.version) put(path, source);
  }

  return {
    close,
    isOpen: (path: string) => documents.has(path),
    versionOf: (path: string) => documents.get(path)?.version,
    /** Opens the document, unless it is open. `update` must have run before. */
    async open(path: string): Promise<SourceText> {
      const known = documents.get(path);
      if (known) {
        documents.delete(path);
        documents.set(path, known);
        return known.source;
      }
      await beforeOpen(path);
      const source = await readSource(files, path);
      put(path, source);
      return source;
    },
    /** Sends the new texts of open documents that changed; closes those that are gone. */
    async update(changed: ChangedPaths): Promise<void> {
      for (const path of [...documents.keys()]) if (changed === 'everything' || changed.has(path)) await refresh(path);
    },
  };
}
