import { pause } from '../../../lib/timing/turns.ts'
import { failed, type Outcome } from '../../outcome.ts'
import { type CompanyProfile, profileCompany } from './company-profile.ts'
import { type Fetching, fetchHome } from './page-fetch.ts'
import { readPage } from './read-page.ts'
import { readSite } from './site.ts'
import { pagesAbout, readPages, type Topic } from './useful-pages.ts'

const TELLING: Topic[] = ['about', 'imprint', 'contact']

export type WebsiteProfile = { ok: true; profile: CompanyProfile } | { ok: false; outcome: Outcome<never> }

/** Builds the profile of a company from its home page and its pages about, contact and imprint. */
export async function profileWebsite(context: Fetching, domain: string): Promise<WebsiteProfile> {
  const site = readSite(domain)
  if (site === null)
    return { ok: false, outcome: failed(`domain: "${domain.slice(0, 100)}" names no website`) }
  const result = await fetchHome(context, site.homes)
  if (!result.ok) return result
  const read = await readPage(context, result.page, ['extraction'])
  if (!read.ok) return { ok: false, outcome: failed(read.message) }
  const home = read.page
  const likely = TELLING.flatMap((topic) => pagesAbout(topic, home).slice(0, 2))
  const { country } = home.extraction
  const others = await readPages(context, likely, { most: 4, parts: ['extraction'] }, { country })
  const pages = [home, ...others].map(({ extraction }) => extraction)
  await pause()
  return { ok: true, profile: profileCompany(pages, site.host) }
}
