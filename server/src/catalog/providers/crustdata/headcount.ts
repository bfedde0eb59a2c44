import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { headcount } from '../../questions/headcount.ts'
import { lookUpCompany } from './company-record.ts'
import { crustdata } from './provider.ts'

export const crustdataHeadcount = defineAdapter(headcount, crustdata, {
  price: 1,
  run: (ask, { by, ...question }) =>
    lookUpCompany(ask, question, ({ headcount: counted }) => {
      const [counts, shares] =
        by === 'country'
          ? [counted?.by_region_absolute, counted?.by_region_percent]
          : [counted?.by_role_absolute, counted?.by_role_percent]
      const names = Object.keys({ ...counts, ...shares })
      const breakdown = names.map((name) => ({
        name,
        employees: counts?.[name] ?? null,
        percent: shares?.[name] ?? null,
      }))
      const company_headcount = counted?.total ?? null
      return breakdown.length === 0 && company_headcount === null
        ? MISS
        : hit({ company_headcount, breakdown }, breakdown.length > 0)
    }),
})
