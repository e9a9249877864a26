import type { XmlElement } from '@rgrove/parse-xml';
import { elementsOf, parseDocuments } from './junit.ts';

/** One test of a TRX report, the format of Visual Studio's tests. */
export interface TrxResult {
  readonly name: string;
  /** Its class and method, as it is asked for. */
  readonly id: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly message: string;
  readonly stack: string;
}

export interface Trx {
  readonly results: readonly TrxResult[];
  /** What is said of the run itself, such as that the program of the tests came to its end. */
  readonly errors: readonly string[];
}

/** One report or several joined ones; nothing if one of them is not a report. */
export function parseTrx(text: string): Trx | undefined {
  const roots = parseDocuments(text);
  if (!roots?.every(({ name }) => name === 'TestRun')) return undefined;
  return { results: roots.flatMap(readResults), errors: roots.flatMap(readErrors) };
}

function readResults(root: XmlElement): TrxResult[] {
  const methods = new Map(childrenOf(root, 'TestDefinitions').flatMap(toMethod));
  return childrenOf(root, 'Results').flatMap((result) => toResult(result, methods));
}

function readErrors(root: XmlElement): string[] {
  const infos = childrenOf(root, 'ResultSummary').filter(({ name }) => name === 'RunInfos');
  return infos
    .flatMap(elementsOf)
    .filter(({ attributes }) => attributes.outcome === 'Error')
    .map((info) => info.text.trim());
}

/** The elements in one of that name. */
function childrenOf(root: XmlElement, name: string): XmlElement[] {
  return elementsOf(root)
    .filter((element) => element.name === name)
    .flatMap(elementsOf);
}

function toMethod(test: XmlElement): [string, string][] {
  const method = elementsOf(test).find(({ name }) => name === 'TestMethod');
  const { className = '', name = '' } = method?.attributes ?? {};
  return test.attributes.id === undefined ? [] : [[test.attributes.id, `${className}.${name}`]];
}

function toResult(result: XmlElement, methods: ReadonlyMap<string, string>): TrxResult[] {
  if (result.name !== 'UnitTestResult') return [];
  const { testName = '', testId = '', outcome = '' } = result.attributes;
  const error = childrenOf(result, 'Output').find(({ name }) => name === 'ErrorInfo');
  const textOf = (kind: string) => (error ? elementsOf(error) : []).find(({ name }) => name === kind)?.text ?? '';
  const id = methods.get(testId) ?? testName;
  return [{ name: testName, id, state: stateOf(outcome), message: textOf('Message'), stack: textOf('StackTrace') }];
}

/** Whatever is not known to be well is not. */
function stateOf(outcome: string): TrxResult['state'] {
  if (outcome === 'Passed') return 'passed';
  return ['NotExecuted', 'Inconclusive', 'NotRunnable', 'Pending'].includes(outcome) ? 'skipped' : 'failed';
}
