import type { LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

/** The id of a file's language by the longest ending that the server knows. */
export function languageIdOfFile({ languages }: LanguageServerDefinition, path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    const ending = name.slice(dot).toLowerCase();
    if (Object.hasOwn(languages, ending)) return languages[ending];
  }
  return Object.hasOwn(languages, name) ? languages[name] : undefined;
}
