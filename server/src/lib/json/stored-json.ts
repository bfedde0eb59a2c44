import { parseLossless } from './lossless-json.ts'

/** An object as the database holds it: parsed once somebody looks into it, and written as the text that it is. */
export class StoredJson {
  readonly text: string
  #value: Record<string, unknown> | undefined

  constructor(text: string) {
    this.text = text
  }

  get value(): Record<string, unknown> {
    return (this.#value ??= parseLossless(this.text) as Record<string, unknown>)
  }
}
