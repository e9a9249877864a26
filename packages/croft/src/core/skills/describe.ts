import { readFrontMatter } from './front-matter.ts';
import { type Head, toLine } from './head.ts';

export interface Described {
  readonly name: string;
  readonly description: string;
}

export interface DescribedAgent extends Described {
  /** As it is written. Left out: whatever whoever starts it has. */
  readonly tools?: string | undefined;
  readonly model?: string | undefined;
}

const maxName = 64;
const maxDescription = 1024;
const maxFirstLine = 200;

/** By its front matter, else by its directory and the first line of its text. */
export function describeSkill({ text }: Head, directory: string): Described {
  const front = readFrontMatter(text);
  const name = toLine(front?.values.get('name') ?? '', maxName);
  const description = toLine(front?.values.get('description') ?? '', maxDescription);
  return {
    name: name === '' ? toLine(directory, maxName) : name,
    description: description === '' ? firstLine(front?.body ?? text) : description,
  };
}

/** `undefined` for what is just a text: a definition says what it is. */
export function describeAgent({ text }: Head, file: string): DescribedAgent | undefined {
  const values = readFrontMatter(text)?.values;
  const [name, description, tools, model] = ['name', 'description', 'tools', 'model'].map((key) =>
    toLine(values?.get(key) ?? '', key === 'name' ? maxName : maxDescription),
  );
  if (!name && !description) return undefined;
  return {
    name: name || toLine(file.replace(/\.md$/, ''), maxName),
    description: description ?? '',
    ...(tools && { tools }),
    ...(model && { model }),
  };
}

function firstLine(body: string): string {
  const line = body.split('\n').find((one) => /[^\s#]/.test(one)) ?? '';
  return toLine(line.replace(/^#+/, ''), maxFirstLine);
}
