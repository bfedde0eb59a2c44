import { z } from 'zod'
import { WireAmount, WireText } from '../../provider/wire-fields.ts'

/** The path for people and companies alike: `data` is an address, a name, a domain or a profile. */
export const FULL_PATH = '/api/ingress/v2/full'

const Company = z.object({
  name: WireText,
  website: WireText,
  industries: z.union([z.string(), z.array(z.string())]).nullish(),
  companySize: WireAmount,
  founded: WireAmount,
  shortDescription: WireText,
  revenueRange: WireText,
  headquarters: WireText,
})
/** The reply about a company, which is at the top or under `company`. */
export const CompanyReply = z.union([
  z.object({ company: Company }).transform(({ company }) => company),
  Company,
])
