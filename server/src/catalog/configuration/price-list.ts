import type { PriceChange, Prices } from '#contract/prices.ts'
import type { Action } from '../define.ts'
import type { Field, ProviderOption } from '../fields/field.ts'
import type { Catalogue } from '../registry.ts'

/** The credits for a call of the web agent on the installation's model. */
export const AGENT_CREDITS = 5
/** The id of the web agent wherever an action is named. */
export const AGENT = 'agent'

type ActionPrices = Prices['actions'][number]

/** Returns the prices in the catalogue, with the changed ones. */
export function listPrices(catalogue: Catalogue, changes: readonly PriceChange[] = []): Prices {
  const agent = changes.findLast(({ action }) => action === AGENT)?.credits ?? AGENT_CREDITS
  return {
    actions: catalogue.list().map((action) => readPrices(action, changes)),
    agent: { credits: agent },
  }
}

function readPrices(action: Action, changes: readonly PriceChange[]): ActionPrices {
  const own = changes.filter((change) => change.action === action.id)
  return {
    action_id: action.id,
    credits: own.findLast(({ provider }) => provider === null)?.credits ?? action.credits,
    providers: Object.entries(action.inputs).flatMap(([field, { waterfall }]) =>
      (waterfall?.providers ?? []).filter(isPriced).map(({ name, credits, missCredits, supportsOwnKey }) => {
        const set = own.findLast((one) => one.provider === name && (one.field ?? field) === field)
        return {
          field,
          provider: name,
          credits: set?.credits ?? credits ?? 0,
          miss_credits: set?.missCredits ?? missCredits ?? 0,
          supports_own_key: supportsOwnKey,
        }
      }),
    ),
  }
}

const isPriced = ({ credits, disabled }: ProviderOption): boolean =>
  credits !== undefined && disabled !== true

/** Returns the catalogue with these prices. What they do not mention keeps its price. */
export function repriceCatalogue(catalogue: Catalogue, prices: Prices): Catalogue {
  const byId = new Map(prices.actions.map((priced) => [priced.action_id, priced]))
  const actions = new Map(
    catalogue.list().map((action) => {
      const priced = byId.get(action.id)
      return [action.id, priced === undefined ? action : repriceAction(action, priced)]
    }),
  )
  return { get: (id) => actions.get(id), list: () => [...actions.values()] }
}

/** Returns the action with these prices, or the same action if nothing differs. */
function repriceAction(action: Action, { credits, providers }: ActionPrices): Action {
  let differs = credits !== action.credits
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, field]) => {
      const repriced = repriceField(
        field,
        providers.filter((one) => one.field === name),
      )
      differs ||= repriced !== field
      return [name, repriced]
    }),
  )
  return differs ? { ...action, credits, inputs } : action
}

function repriceField(field: Field, prices: ActionPrices['providers']): Field {
  const { waterfall } = field
  if (waterfall === undefined) return field
  const priceOf = ({ name, credits = 0, missCredits = 0 }: ProviderOption) => {
    const priced = prices.find(({ provider }) => provider === name)
    return { credits: priced?.credits ?? credits, missCredits: priced?.miss_credits ?? missCredits }
  }
  const differs = waterfall.providers.filter(isPriced).some((option) => {
    const { credits, missCredits } = priceOf(option)
    return credits !== (option.credits ?? 0) || missCredits !== (option.missCredits ?? 0)
  })
  return differs ? waterfall.reprice(priceOf) : field
}
