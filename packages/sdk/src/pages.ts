export interface PageOptions {
  /** 1 to 200; 50 unless said. */
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** Every row of a list, page by page as they are looked at. */
export async function* readAll<Row, Answer extends { readonly next?: string | undefined }>(
  list: (page: PageOptions) => Promise<Answer>,
  rowsOf: (answer: Answer) => readonly Row[],
): AsyncGenerator<Row> {
  let after: string | undefined;
  do {
    const answer = await list({ limit: 200, after });
    yield* rowsOf(answer);
    after = answer.next;
  } while (after !== undefined);
}
