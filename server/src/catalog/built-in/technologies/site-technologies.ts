import { failed, type Outcome } from '../../outcome.ts'
import { type Fetching, fetchHome } from '../web/page-fetch.ts'
import { readPage } from '../web/read-page.ts'
import { readSite } from '../web/site.ts'
import { type Technology, tracesOfNames } from './detection.ts'

/** Detects the technologies of a domain's website from its home page and its DNS records. */
export async function readSiteTechnologies(
  context: Fetching,
  domain: string,
): Promise<Technology[] | Outcome<never>> {
  const site = readSite(domain)
  if (site === null) return failed(`domain: "${domain.slice(0, 100)}" names no website`)
  const [result, names] = await Promise.all([
    fetchHome(context, site.homes),
    site.isAddress ? new Map() : tracesOfNames(context.egress.dns, site.host, site.domain),
  ])
  if (!result.ok) return result.outcome
  const read = await readPage(context, result.page, ['technologies'], { names })
  return read.ok ? read.page.technologies : failed(read.message)
}
