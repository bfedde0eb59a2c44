import { failed, type Outcome } from '../../outcome.ts'
import { readDocument } from '../web/document.ts'
import { type Fetching, fetchHome } from '../web/page-fetch.ts'
import { readSite } from '../web/site.ts'
import { detectTechnologies, type Technology, tracesOfNames, tracesOfPage } from './detection.ts'

/** What the website of a domain is made with, from its home page and its DNS records. */
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
  const read = await readDocument(result.page)
  if (!read.ok) return failed(read.message)
  return detectTechnologies(new Map([...tracesOfPage(read.document), ...names]))
}
