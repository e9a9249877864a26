import { AppError } from '@croft/protocol';

/** Turns the words of ast-grep into an error of ours: without its addresses, and without options that callers lack. */
export function explainAstGrepFailure(said: string): AppError {
  if (said.startsWith('croft-init: ')) return notInstalledError();
  const [, language] = /invalid value '(.*)' for '--lang/.exec(said) ?? [];
  if (language !== undefined) return unknownLanguageError(language);
  if (said.includes('enum SgLang')) return unknownLanguageError();
  const causes = [...said.matchAll(/^╰▻ (.*)$/gm)].map(([, cause = '']) => cause);
  const why = causes.at(-1) ?? said.split('\n').find((line) => line.trim() !== '') ?? 'ast-grep does not understand it';
  return badPatternError(`the pattern was refused: ${why.slice(0, 1000)}`);
}

export function badPatternError(why: string): AppError {
  const advice = 'write the pattern as complete code of the language, with $NAME for a part and $$$NAME for several';
  return new AppError('E_BAD_PATTERN', `${why}; ${advice}`);
}

/** A pattern with a syntax error finds nothing, and ast-grep only warns. */
export function hasSyntaxError(said: string): boolean {
  return said.includes('contains an ERROR node');
}

/** ast-grep takes one statement as a pattern. */
export function isSeveralStatements(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.code === 'E_BAD_PATTERN' && thrown.message.includes('Multiple AST nodes');
}

function unknownLanguageError(language = 'of that name'): AppError {
  const known =
    'bash, c, cpp, csharp, css, elixir, go, haskell, html, java, javascript, json, kotlin, lua, php, python, ruby, ' +
    'rust, scala, swift, tsx, typescript, yaml';
  return new AppError('E_UNKNOWN_LANGUAGE', `there is no language ${language}; use one of: ${known}`);
}

function notInstalledError(): AppError {
  return new AppError(
    'E_TOOL_MISSING',
    'ast-grep is not installed for this machine; it comes with the npm packages of croft, which are not complete here',
    { hint: 'Use grep, or ask the operator to install croft again.' },
  );
}
