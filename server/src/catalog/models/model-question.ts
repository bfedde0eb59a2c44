import type { Provenance } from '../outcome.ts'
import type { ModelFailure } from './model-failures.ts'
import type { Model } from './models.ts'

/**
 * A question to a model. The parts are ordered from constant to different in every row, so that servers can cache the
 * beginning.
 */
export type ModelQuestion = {
  model: Model
  instructions: string
  task: string
  data: string
  temperature?: number | undefined
  maxOutputTokens?: number | undefined
  /** Texts that must not appear in a message, although the model may repeat them. */
  secrets?: readonly string[]
}

/** The result of one call. `entry` makes its part of the cell's provenance. */
export type ModelReply =
  | { ok: true; text: string; entry(status: string): Provenance }
  | { ok: false; failure: ModelFailure }

/** Returns the texts that a message about the question must not contain. */
export const hiddenIn = ({ model, secrets = [] }: ModelQuestion): string[] =>
  model.apiKey === undefined ? [...secrets] : [model.apiKey, ...secrets]
