import type { Action } from '../define.ts'
import type { WaterfallOffer } from '../fields/field.ts'
import type { ConfigurationEnvironment } from './environment.ts'
import { canBeAsked } from './inspection.ts'

/** The keys and addresses that actions can use, without those of a sheet. `hasModel`: some language model can be asked. */
export type Reach = Pick<ConfigurationEnvironment, 'connectionsOf' | 'hasKey' | 'hasAddress'> & {
  hasModel: boolean
}

/** Returns true if an action can run: it needs no key, or at least one that it can use is there. */
export function canRun({ inputs }: Action, reach: Reach): boolean {
  return Object.values(inputs).every(({ waterfall, connects, options, required }) => {
    if (connects !== undefined) return reach.connectionsOf(connects.id) > 0 || reach.hasKey(connects.id)
    if (waterfall !== undefined) return waterfall.isExtra || canAskAny(waterfall, reach)
    const asksModel = required && options !== undefined && 'from' in options && options.from === 'models'
    return !asksModel || reach.hasModel
  })
}

function canAskAny({ providers }: WaterfallOffer, reach: Reach): boolean {
  const environment = { ...reach, envKeys: new Set<string>() }
  return providers.some(
    (option) =>
      option.asksNobody !== true &&
      option.disabled !== true &&
      [false, true].some(
        (own_key) =>
          (!own_key || option.supportsOwnKey) &&
          canBeAsked(option, { provider: option.id, own_key }, environment),
      ),
  )
}
