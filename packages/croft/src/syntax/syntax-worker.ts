import { parentPort } from 'node:worker_threads';
import * as languages from '../languages/index.ts';
import { lowerThreadPriority } from '../lib/concurrency/worker-thread.ts';
import { digestFile, digestText } from './digest-file.ts';
import { loadGrammar, usedBytes } from './grammars.ts';
import { type ParseAnswer, type ParseQuestion, toJson } from './parser-thread.ts';
import { readSyntaxTree } from './read-syntax-tree.ts';
import { readSource } from './source-text.ts';

const known = new Map(Object.values(languages).map((language) => [language.id, language]));

/** Above this the thread is replaced after its answer: the parser's memory never shrinks. */
const maxKeptBytes = 128 * 1024 * 1024;

lowerThreadPriority();

parentPort?.on('message', async (question: ParseQuestion) => {
  const answer = await parse(question).catch((): ParseAnswer => ({ failed: 'crashed', isSpent: true }));
  parentPort?.postMessage(answer);
});

async function parse({ wants, language: id, bytes, timeoutMs }: ParseQuestion): Promise<ParseAnswer> {
  const language = known.get(id ?? '');
  if (!language && wants === 'file') return { failed: 'crashed', isSpent: false };
  if (!language) return { json: JSON.stringify(digestText(readSource(bytes).text)), isSpent: false };
  const grammar = await loadGrammar(language);
  const deadline = performance.now() + timeoutMs;
  const isLate = () => performance.now() > deadline;
  const source = readSource(bytes);
  const tree = grammar.parser.parse(source.text, null, { progressCallback: isLate });
  if (!tree) grammar.parser.reset();
  try {
    const file = tree && readSyntaxTree(tree, grammar, source, isLate);
    const isSpent = usedBytes() > maxKeptBytes;
    if (!file || isLate()) return { failed: 'late', isSpent };
    return { json: wants === 'file' ? toJson(file) : JSON.stringify(digestFile(file, source.text)), isSpent };
  } finally {
    tree?.delete();
  }
}
