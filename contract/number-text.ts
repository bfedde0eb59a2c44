declare global {
  interface JSON {
    rawJSON(text: string): object
  }
}

/** A number as it was written. Prints itself back digit by digit. */
export class NumberText {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }

  toJSON(): object {
    return JSON.rawJSON(this.source)
  }
}

/** For values that are text: a number is what was written, any other value itself. */
export function textOfNumber(value: unknown): unknown {
  return value instanceof NumberText ? value.source : value
}
