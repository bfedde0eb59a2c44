import { isObject } from '../../../lib/json/object.ts'
import type { Auth } from '../../provider/auth.ts'
import type { ProviderSpec } from '../../provider/provider.ts'

export const googleAuth: Auth = {
  kind: 'oauth',
  grant: 'refresh_token',
  tokenUrl: 'https://oauth2.googleapis.com/token',
}

/** The errors of Google's APIs: https://cloud.google.com/apis/design/errors */
export const googleErrors: Pick<ProviderSpec, 'statuses' | 'explain'> = {
  statuses: { 400: 'ineligible', 404: 'ineligible' },
  explain(body) {
    const error = isObject(body) ? body['error'] : undefined
    return isObject(error) && typeof error['message'] === 'string' ? error['message'] : null
  },
}
