import type { NamedFile } from '../../core/projects/profile.ts';

/** What a runner's command line is made of. */
export interface Operands {
  readonly options: readonly string[];
  /** Files, directories or patterns of them. */
  readonly named: readonly string[];
}

/** Options whose value is a path and none of the tests', of all runners together: none means another thing by one. */
const withPath = new Set(
  [
    '-c --config -r --require --import --loader --experimental-loader --preload --root --rootDir --roots',
    '--dir --project --projects --cwd --tsconfig --package --env-file --env-file-if-exists --outputFile',
    '--test-reporter --test-reporter-destination --test-global-setup --test-coverage-include',
    '--test-coverage-exclude --test-name-pattern --test-skip-pattern --setupFiles --setupFilesAfterEnv',
    '--globalSetup --globalTeardown --testMatch --testRegex --testPathPattern --testPathPatterns',
    '--testPathIgnorePatterns --coverageDirectory --collectCoverageFrom --coverage-dir --cacheDirectory',
    '--reporters --reporter -R --reporter-option --reporter-options -O --file --ignore --exclude',
    '--resolver --runner --transform --env --environment --watch-files -t -m --match -g --grep -f --fgrep',
    '-C --conditions --testNamePattern --test-shard --shard',
  ].flatMap((line) => line.split(' ')),
);
/** Of mocha: its value is what would otherwise stand alone. */
const withTests = '--spec';

/** Takes the words after a runner apart. What could be the value of an option that is not known stays with it. */
export function splitOperands(words: readonly string[]): Operands {
  const options: string[] = [];
  const named: string[] = [];
  let previous = '';
  for (const word of words) {
    if (word === withTests) previous = '';
    else if (word.startsWith(`${withTests}=`)) named.push(word.slice(withTests.length + 1));
    else {
      (isOption(word) || isValue(word, previous) ? options : named).push(word);
      previous = word;
    }
  }
  return { options, named };
}

function isOption(word: string): boolean {
  return word.startsWith('-');
}

function isValue(word: string, previous: string): boolean {
  if (!isOption(previous) || previous.includes('=')) return false;
  return withPath.has(previous) || !looksLikeTests(word);
}

function looksLikeTests(word: string): boolean {
  return /[*/]|\.[cm]?[jt]sx?$|^(?:tests?|specs?|__tests__|src|lib)$/.test(word);
}

export function toNamed(words: readonly string[], shellPatterns: ReadonlySet<string>): readonly NamedFile[] {
  return words.map((text) => ({ text, isForShell: shellPatterns.has(text) }));
}
