import type { NamedFile } from '../../core/projects/profile.ts';

/** The parts of a test runner's command line. */
interface Operands {
  readonly options: readonly string[];
  /** Files, directories or patterns. */
  readonly named: readonly string[];
}

/** Options whose value is not a test path, of all test runners together: no option has two meanings. */
const optionsWithPath = new Set(
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
/** Option of mocha whose value is a test path. */
const testsOption = '--spec';

/** Splits the words after a test runner. A word that could be the value of an unknown option stays with that option. */
export function splitOperands(words: readonly string[]): Operands {
  const options: string[] = [];
  const named: string[] = [];
  let previous = '';
  for (const word of words) {
    if (word === testsOption) previous = '';
    else if (word.startsWith(`${testsOption}=`)) named.push(word.slice(testsOption.length + 1));
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
  return optionsWithPath.has(previous) || !looksLikeTests(word);
}

function looksLikeTests(word: string): boolean {
  return /[*/]|\.[cm]?[jt]sx?$|^(?:tests?|specs?|__tests__|src|lib)$/.test(word);
}

export function toNamedFiles(words: readonly string[], shellPatterns: ReadonlySet<string>): readonly NamedFile[] {
  return words.map((text) => ({ text, isForShell: shellPatterns.has(text) }));
}
