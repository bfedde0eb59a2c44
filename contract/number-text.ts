declare global {
  interface JSON {
    rawJSON(text: string): object
  }
}

/** A number kept as its source text, so that it is serialized again without losing a digit. */
export class NumberText {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }

  toJSON(): object {
    return JSON.rawJSON(this.source)
  }
}

/** Returns the source text of a number, and any other value unchanged. Used for values that are stored as text. */
export function numberToText(value: unknown): unknown {
  return value instanceof NumberText ? value.source : value
}
