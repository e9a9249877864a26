import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path/posix';

/** Words that once meant several things. The glossary of `docs/architecture.md` has the words to use instead. */
export const retired = [
  'ground',
  'grounds',
  'house',
  'houses',
  'birth',
  'births',
  'desk',
  'door',
  'furnish',
  'furnished',
  'hear',
  'keeper',
  'means',
  'outbox',
  'owed',
  'settle',
  'settled',
  'settling',
  'spot',
  'surroundings',
  'told',
  'wish',
];

export interface Source {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly text: string;
}

const declaration = /\b(?:function\*?|const|let|class|interface|type)\s+([A-Za-z_$][\w$]*)/g;
/** Only the program must not have two types of one name. */
const isOfProgram = (file: string) => !/^(?:bench|clients)\/|\/test\/|\.test\.ts$/.test(file);
const exportedType = /^export (?:abstract )?(?:class|interface|type) ([A-Za-z_$][\w$]*)/gm;

export function findProblems(sources: readonly Source[]): string[] {
  return [...findRepeated(sources.filter(({ file }) => isOfProgram(file))), ...sources.flatMap(findRetired)];
}

/** A type name that two files export says nothing about which of the two is meant. */
function findRepeated(sources: readonly Source[]): string[] {
  const types = sources.flatMap(({ file, text }) =>
    [...text.matchAll(exportedType)].map(([, name = '']) => ({ name, file })),
  );
  return [...Map.groupBy(types, ({ name }) => name)]
    .map(([name, found]) => ({ name, files: [...new Set(found.map(({ file }) => file))] }))
    .filter(({ files }) => files.length > 1)
    .map(({ name, files }) => `the type ${name} is exported by ${files.join(' and ')}`);
}

function findRetired({ file, text }: Source): string[] {
  const names = [...text.matchAll(declaration)].map(([, name = '']) => name);
  return [basename(file).replace(/\.tsx?$/, ''), ...names]
    .filter((name) => wordsOf(name).some((word) => retired.includes(word)))
    .map((name) => `${file}: ${name} uses a retired word`);
}

function wordsOf(name: string): string[] {
  return name.split(/[-_.]|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());
}

if (import.meta.main) {
  const sources = globSync(
    ['packages/{croft,dashboard}/{src,test}/**/*.{ts,tsx}', 'bench/**/*.ts', 'clients/**/*.ts'],
    {
      exclude: (path) => path.includes('node_modules'),
    },
  )
    .filter((file) => !file.includes('/test/fixtures/'))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const problems = findProblems(sources);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
