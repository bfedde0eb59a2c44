import { trimEnd } from '../../../lib/plain-text.ts'
/** The networks where companies have pages: a pattern for the host, and one for the path of a company's page. */
const NETWORKS: [RegExp, RegExp][] = [
  [/(^|\.)linkedin\.com$/, /^\/(company|in|school|showcase|organization)\/[^/]+/],
  [/^(www\.|mobile\.)?(twitter|x)\.com$/, /^\/(?!(share|intent|home|search|hashtag|i)\b)@?\w{1,15}\/?$/],
  [/(^|\.)facebook\.com$/, /^\/(?!(sharer|share|dialog|plugins|tr|login|v\d)\b)[^/]+/],
  [/(^|\.)instagram\.com$/, /^\/(?!(p|reel|explore|accounts)\/)[^/]+\/?$/],
  [/(^|\.)youtube\.com$/, /^\/(@|channel\/|c\/|user\/)[^/]+/],
  [/^(www\.)?github\.com$/, /^\/(?!(login|features|about|topics)\b)[\w-]+\/?$/],
  [/^(www\.)?gitlab\.com$/, /^\/[\w.-]+\/?$/],
  [/(^|\.)tiktok\.com$/, /^\/@[\w.]+/],
  [/(^|\.)pinterest\.(com|de|fr|co\.uk)$/, /^\/(?!pin\/)[^/]+\/?$/],
  [/(^|\.)xing\.com$/, /^\/(companies|pages|profile|company)\/[^/]+/],
  [/(^|\.)threads\.(net|com)$/, /^\/@[^/]+/],
  [/^(www\.)?medium\.com$/, /^\/@?[\w-]+\/?$/],
  [/(^|\.)crunchbase\.com$/, /^\/organization\/[^/]+/],
  [/(^|\.)bsky\.app$/, /^\/profile\/[^/]+/],
  [/^t\.me$/, /^\/(?!share\b)[\w+]+/],
  [/^(discord\.gg|(www\.)?discord\.com)$/, /^\/(?:invite\/)?[\w-]+\/?$/],
  [/(^|\.)vimeo\.com$/, /^\/[a-z][\w]+\/?$/i],
  [/(^|\.)weibo\.com$/, /^\/\w+/],
  [/^(www\.)?vk\.com$/, /^\/(?!share)[\w.]+\/?$/],
  [/(^|\.)glassdoor\.(com|de|co\.uk)$/, /^\/Overview\//],
  [/(^|\.)trustpilot\.com$/, /^\/review\//],
]
const MAX_LINKS = 50

/** Returns the addresses that are pages of a company on social networks. Links that share a page are left out. */
export function findSocialLinks(addresses: readonly string[]): string[] {
  const found = addresses.flatMap((address) => {
    const url = URL.parse(address)
    if (url === null || !/^https?:$/.test(url.protocol)) return []
    const isPage = NETWORKS.some(([host, path]) => host.test(url.hostname) && path.test(url.pathname))
    return isPage ? [`https://${url.hostname}${trimEnd(url.pathname, '/')}`] : []
  })
  return [...new Set(found)].slice(0, MAX_LINKS)
}
