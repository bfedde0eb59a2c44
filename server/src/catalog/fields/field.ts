import type { FieldKind } from '#contract/actions.ts'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { ConfiguredValue } from '../chain/definition.ts'
import type { InputRenames } from '../chain/input-renames.ts'
import { parseTemplate } from '../chain/references.ts'

/** The decision about a value that a caller configures. */
export type Checked =
  | { kind: 'save'; value: ConfiguredValue; warnings?: Warning[] }
  /** The value is ignored with a warning, and the field keeps its previous value (D32). */
  | { kind: 'drop'; code: 'unknown_field'; message: string }
  /** The whole request is rejected with 400. */
  | { kind: 'refuse'; errors: FieldError[] }

/** Resolves tokens at run time: `text` to text, `value` to the value of a lone token. */
export type Scope = { text(template: string): string; value(template: string): unknown }

/** A dropdown option, as the options endpoint returns it. */
export type Option = { value: string; label: string; extras?: Record<string, unknown> }

/** The texts of a field that callers read: a label and a line of help for people, further details for programs. */
export type FieldTexts = {
  /** The name on the screen, unique in its action. */
  label: string
  /** One line for people, without ids and JSON. */
  help: string
  /** An example value, shown in an empty field. */
  placeholder?: string
  /** The facts that only callers of the API need: accepted forms, ids, defaults. */
  details?: string
  /** Set if most people leave the field as it is. */
  advanced?: true
  /** The control, where it is not the usual one of the type. */
  kind?: FieldKind
}

export type FieldDescription = Pick<FieldTexts, 'label' | 'help'> & {
  /** The control that a screen shows for the field. */
  kind: FieldKind
  /** The help and the details. */
  description: string
  placeholder: string | null
  group: 'main' | 'advanced'
}

/** Returns the description of a field. `usual` is the control of its type. */
export function describeField(texts: FieldTexts, usual: FieldKind): FieldDescription {
  const { label, help, placeholder, details, advanced, kind = usual } = texts
  return {
    label,
    help,
    kind,
    description: details === undefined ? help : `${help} ${details}`,
    placeholder: placeholder ?? null,
    group: advanced === true ? 'advanced' : 'main',
  }
}

/**
 * One input of an action: its description, the check of a configured value, and the way to the typed value that `run`
 * gets. `resolve` expands tokens (its result is also the cache key); `read` makes the typed value from the result.
 */
export type Field<Value = unknown> = FieldDescription & {
  type: string
  required: boolean
  /** Callers are told to set the field, as if it were required, but rows run without it. */
  runsWithout?: true
  /** Numbers inside the value are used as they were written: `check` and `resolve` may receive NumberText. */
  keepsNumbers?: true
  /** Checks a new value. `current` is the present one, for fields where it affects the meaning of the new one. */
  check(raw: unknown, path: string, current?: ConfiguredValue): Checked
  resolve(configured: ConfiguredValue, scope: Scope): unknown
  read(resolved: unknown): Value
  /** Returns what callers see of a configured value, if that is not the value itself. */
  show?: (configured: ConfiguredValue) => unknown
  /** The options of a dropdown: fixed here, or `from` names their source (sheets, models, connections). */
  options?: { fixed: Option[] } | { from: string; needs?: string[] }
  /** The providers that can be listed. Present on waterfalls. */
  waterfall?: WaterfallOffer
  /** The one provider that the action calls, and how else it can be reached. Present where a connection is chosen. */
  connects?: { id: string; name: string; otherwise?: string }
  /**
   * Returns what is wrong with a configured value before any row runs, or null. The value is saved all the same (D77).
   */
  inspect?: (configured: ConfiguredValue) => Inspection | null
  /** The sheet whose columns the variables name: this one or another. Present on condition groups. */
  conditions?: { over: 'row' | 'target' }
  /** The inputs of another sheet that the value names, if it may name any. */
  namesInputs?: NamesInputs
  /** Returns the part of a configured value that holds tokens of this sheet, if that is not the whole value. */
  references?(configured: ConfiguredValue): unknown
  /** Renames inputs of this sheet in a configured value, if they stand elsewhere than in the tokens of its texts. */
  renameInputs?(configured: ConfiguredValue, renames: InputRenames): ConfiguredValue
}

/** `of` is the field that names the sheet. `takesPaths` means that a name may lead into the value of an input (D75). */
export type NamesInputs = {
  of: string
  takesPaths?: true
  list(configured: ConfiguredValue): { place: string; name: string }[]
  /** Renames inputs of the other sheet in a configured value. */
  rename(configured: ConfiguredValue, renames: InputRenames): ConfiguredValue
}

export type Inspection = { code: string; message: string }

export type Fields = Record<string, Field>

export type WaterfallOffer = {
  providers: readonly ProviderOption[]
  /** The steps that are used while nothing is configured. */
  usual: readonly WaterfallStep[]
  /** The action has other ways to answer and works without providers. */
  isExtra: boolean
  /** Returns the same field with other prices. */
  reprice(priceOf: (option: ProviderOption) => ProviderPrice): Field
}

/** The credits for an answer and for a miss. */
export type ProviderPrice = { credits: number; missCredits: number }

/** A configured step of a waterfall. It is stored by provider id; callers see display names (D37). */
export type WaterfallStep = { provider: string; own_key: boolean }

/** A provider as a waterfall offers it. */
export type ProviderOption = {
  id: string
  name: string
  supportsOwnKey: boolean
  requiresOwnKey: boolean
  disabled?: boolean
  /** Set if listing this option means that no provider is called at all, whichever others are listed. */
  asksNobody?: true
  /** The provider cannot be called without a key, or (`needsAddress`) until LOAM_PROVIDER_URL_<NAME> is set. */
  needsKey?: boolean
  needsAddress?: boolean
  /** The credits for an answer and for a miss on the installation's key. */
  credits?: number
  missCredits?: number
}

/** Thrown by `read` if the resolved value cannot be used. The cell then fails with this message. */
export class FieldProblem extends Error {
  override name = 'FieldProblem'
}

export const refuse = (field: string, message: string): Checked => ({
  kind: 'refuse',
  errors: [{ field, message }],
})

/** Returns true if the text holds a token, so that its value is known only with a row. */
export const hasToken = (text: string): boolean => parseTemplate(text).some((part) => part.kind === 'token')
