import type { Config } from '#server/lib/config/config.ts'
import { type Check, ok, warn } from './check.ts'

/**
 * Checks that browsers can load the scripts for customers' pages, and that visits have the visitors' own
 * addresses. Calls nothing.
 */
export function checkVisitors(config: Config): Check {
  const { LOAM_PUBLIC_URL: url, LOAM_TRUST_PROXY: trusts } = config
  if (url === undefined) {
    return ok(
      'visitors',
      'LOAM_PUBLIC_URL is not set: scripts of track_website_visitors work only on this machine',
    )
  }
  if (!url.startsWith('https:')) {
    return warn(
      'visitors',
      `${url} is not https: browsers refuse its scripts in https pages`,
      'set LOAM_PUBLIC_URL to the https address of your proxy',
    )
  }
  if ('hops' in trusts && trusts.hops === 0) {
    return warn(
      'visitors',
      'LOAM_TRUST_PROXY is false: behind a proxy every visitor has the address of the proxy',
      'set LOAM_TRUST_PROXY=true if your own proxy serves https',
    )
  }
  const ways = config.providerKeys.has('ipinfo') ? 'reverse DNS, then IPinfo' : 'reverse DNS'
  return ok('visitors', `scripts are served at ${url}; companies are found by ${ways}`)
}
