export interface PageOptions {
  /** 1 to 200. Default: 50. */
  readonly limit?: number | undefined;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
}

/** Lists every row, and reads pages as they are needed. */
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
