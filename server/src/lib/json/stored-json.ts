import { parseLossless } from './lossless-json.ts'

/**
 * An object as the database stores it. It is parsed when its value is first read, unless the value is known,
 * and written back as the same text.
 */
export class StoredJson {
  readonly text: string
  #value: Record<string, unknown> | undefined

  constructor(text: string, value?: Record<string, unknown>) {
    this.text = text
    this.#value = value
  }

  get value(): Record<string, unknown> {
    return (this.#value ??= parseLossless(this.text) as Record<string, unknown>)
  }
}
