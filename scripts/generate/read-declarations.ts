import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Something that a package exports, as the compiler declares it. */
export interface Declaration {
  readonly name: string;
  /** The doc comment, as text of one paragraph or more. */
  readonly about: string;
  /** The declaration without its doc comment; more than one for overloads. */
  readonly code: string;
}

const reExport = /^export (?:type )?\{([^}]*)\} from '([^']+)';$/gm;
/** A statement begins where a line does, after its comment, and ends before the next one does. */
const statement =
  /(?:^\/\*\*[\s\S]*?\*\/\n)?^(?:export |declare |interface |type |import )[\s\S]*?(?=^(?:\/\*\*|export |declare |interface |type |import )|(?![\s\S]))/gm;
const declared = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const) (\w+)/m;

/** Reads what an entry of a package exports, in its order, from declarations that the compiler wrote. */
export function readDeclarations(entry: string): Declaration[] {
  const text = readFileSync(entry, 'utf8');
  const passedOn = [...text.matchAll(reExport)].flatMap(([, names = '', from = '']) =>
    from.startsWith('.') ? findNamed(join(dirname(entry), from.replace(/\.ts$/, '.d.ts')), toNames(names)) : [],
  );
  return [...passedOn, ...readStatements(text).filter(({ code }) => code.startsWith('export '))];
}

function toNames(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '');
}

function findNamed(file: string, names: readonly string[]): Declaration[] {
  const there = readStatements(readFileSync(file, 'utf8'));
  return names.map((name) => {
    const found = there.filter((one) => one.name === name);
    if (found.length === 0) throw new Error(`${file} does not declare ${name}`);
    return { name, about: found[0]?.about ?? '', code: found.map(({ code }) => code).join('\n') };
  });
}

function readStatements(text: string): Declaration[] {
  return [...text.matchAll(statement)].flatMap(([all]) => {
    const [, comment = '', code = ''] = /^(\/\*\*[\s\S]*?\*\/\n)?([\s\S]*)$/.exec(all.trimEnd()) ?? [];
    const name = declared.exec(code)?.[1];
    return name === undefined ? [] : [{ name, about: toProse(comment), code }];
  });
}

function toProse(comment: string): string {
  const lines = comment
    .replace(/^\/\*\*|\*\/\s*$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim());
  return lines.join('\n').trim();
}
