/** Steps of one pattern on all texts together. Ordinary patterns take some ten steps per path. */
const maxSteps = 10_000_000;
/** Steps on one text, which is matched without a pause. */
const maxStepsOfText = 1_000_000;

/** Counts the matching steps of a pattern, because both pattern and texts may be made to be slow. */
export class StepBudget {
  #spent = 0;
  #spentBefore = 0;

  /** Starts a text, with the steps that it takes in any case. */
  begin(steps: number): void {
    this.#spentBefore = this.#spent;
    this.spend(steps);
  }

  /** Counts steps. Throws `RangeError` for too many. */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > maxSteps || this.#spent - this.#spentBefore > maxStepsOfText)
      throw new RangeError('The pattern takes too many steps on these files. Make it shorter, or use fewer wildcards.');
  }
}
