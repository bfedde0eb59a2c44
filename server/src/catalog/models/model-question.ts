import type { Provenance } from '../outcome.ts'
import type { ModelFailure } from './model-failures.ts'
import type { Model } from './models.ts'

/** What a model is asked, from what never changes to what changes with every row, so that servers can reuse their work. */
export type ModelQuestion = {
  model: Model
  instructions: string
  task: string
  data: string
  temperature?: number | undefined
  maxOutputTokens?: number | undefined
  /** What must not stand in a message, although the model may repeat it. */
  secrets?: readonly string[]
}

/** What one call came to; `entry` is its part of the cell's provenance. */
export type ModelReply =
  | { ok: true; text: string; entry(status: string): Provenance }
  | { ok: false; failure: ModelFailure }

/** What a message about the question must not hold. */
export const hiddenIn = ({ model, secrets = [] }: ModelQuestion): string[] =>
  model.apiKey === undefined ? [...secrets] : [model.apiKey, ...secrets]
