import type { Section } from './contents.ts';
import type { Page } from './page-types.ts';

/** The list of pages for models, in the form of llms.txt: a title, a summary, and links to the Markdown of each page. */
export function writeLlms(sections: readonly Section[], pages: ReadonlyMap<string, Page>): string {
  const parts = sections.map(({ title, sources }) => {
    const rows = sources.flatMap((source) => {
      const page = pages.get(source);
      return page ? [`- [${page.title}](${page.name}.md): ${page.summary}`] : [];
    });
    return `## ${title}\n\n${rows.join('\n')}\n`;
  });
  const first = pages.get('README.md');
  return [`# ${first?.title}\n`, `> ${first?.summary}\n`, ...parts].join('\n');
}
