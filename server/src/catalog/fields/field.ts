import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { ConfiguredValue } from '../chain/definition.ts'
import { parseTemplate } from '../chain/references.ts'

/** What becomes of a value that a caller configures. */
export type Checked =
  | { kind: 'save'; value: ConfiguredValue; warnings?: Warning[] }
  /** Ignored with a warning, and the field keeps what it had (D32). */
  | { kind: 'drop'; code: 'unknown_field'; message: string }
  /** Refused: the whole request is a 400. */
  | { kind: 'refuse'; errors: FieldError[] }

/** Reads tokens at run time: `text` as text, `value` as what a lone token stands for. */
export type Scope = { text(template: string): string; value(template: string): unknown }

/** An option of a dropdown, as the options endpoint answers it. */
export type Option = { value: string; label: string; extras?: Record<string, unknown> }

/**
 * One input of an action: how it is described, how a configured value is checked, and how it becomes the typed value that
 * `run` gets. `resolve` expands tokens (its result is also the cache key), `read` makes the typed value of it.
 */
export type Field<Value = unknown> = {
  type: string
  required: boolean
  /** Callers are told to set a required field like this one, but rows run without it all the same. */
  runsWithout?: true
  description: string
  /** Numbers inside of it are used as they were written: `check` and `resolve` may meet NumberText. */
  keepsNumbers?: true
  /** `current` is what the field holds now, where that matters to what a new value means. */
  check(raw: unknown, path: string, current?: ConfiguredValue): Checked
  resolve(configured: ConfiguredValue, scope: Scope): unknown
  read(resolved: unknown): Value
  /** How a configured value is shown, where that is not the value itself. */
  show?(configured: ConfiguredValue): unknown
  /** Words a dropdown offers: fixed ones here, or by name from whoever knows them (sheets, models, connections). */
  options?: { fixed: Option[] } | { from: string; needs?: string[] }
  /** Present on waterfalls: the providers that may be listed. */
  waterfall?: WaterfallOffer
  /** Present where a connection is chosen: the one provider that the action asks, and how else it could be reached. */
  connects?: { id: string; name: string; otherwise?: string }
  /** What can be seen to be wrong with a configured value before any row runs; it is saved all the same (D77). */
  inspect?: (configured: ConfiguredValue) => Inspection | null
  /** Present on condition groups: whether their variables name columns of this sheet or of another. */
  conditions?: { over: 'row' | 'target' }
  /** Present where names of inputs of another sheet stand. */
  namesInputs?: NamesInputs
  /** What of a configured value holds tokens of this sheet, where that is not the value itself. */
  references?(configured: ConfiguredValue): unknown
}

/** `of`: the field that names the sheet. `takesPaths`: a name may lead into the value of an input (D75). */
export type NamesInputs = {
  of: string
  takesPaths?: true
  list(configured: ConfiguredValue): { place: string; name: string }[]
}

export type Inspection = { code: string; message: string }

export type Fields = Record<string, Field>

export type WaterfallOffer = {
  providers: readonly ProviderOption[]
  /** Who is asked while nothing is configured. */
  usual: readonly WaterfallStep[]
  /** The action has other ways to answer, and does without them. */
  isExtra: boolean
  /** The same field at other prices. */
  reprice(priceOf: (option: ProviderOption) => ProviderPrice): Field
}

/** Credits for an answer, and for a miss. */
export type ProviderPrice = { credits: number; missCredits: number }

/** A configured step of a waterfall. Stored by provider id; callers see display names (D37). */
export type WaterfallStep = { provider: string; own_key: boolean }

/** A provider as a waterfall offers it. */
export type ProviderOption = {
  id: string
  name: string
  supportsOwnKey: boolean
  requiresOwnKey: boolean
  disabled?: boolean
  /** If it is listed, no provider is asked at all, whichever others are listed. */
  asksNobody?: true
  /** It cannot be asked without a key, or not before LOAM_PROVIDER_URL_<NAME> says where it is. */
  needsKey?: boolean
  needsAddress?: boolean
  /** Credits for an answer, and for a miss, on the platform's key. */
  credits?: number
  missCredits?: number
}

/** Thrown by `read`: the resolved value cannot be used. The cell is an error with this message. */
export class FieldProblem extends Error {
  override name = 'FieldProblem'
}

export const refuse = (field: string, message: string): Checked => ({
  kind: 'refuse',
  errors: [{ field, message }],
})

/** Whether text holds a token, so that what it stands for is only known with a row. */
export const hasToken = (text: string): boolean => parseTemplate(text).some((part) => part.kind === 'token')
