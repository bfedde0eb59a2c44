import type { Site } from '../site-server.ts'

const home = (link: string): Site => ({
  '/': `<html><head><title>Acme</title></head><body><nav><a href="/product">Product</a><a href="/careers">Careers</a></nav></body></html>`,
  '/careers': `<html><head><title>Careers at Acme</title></head><body><h1>Join us</h1>${link}</body></html>`,
})

/** Careers pages that embed or link the boards. */
export const careers: Record<string, Site> = {
  greenhouse: home(
    '<div id="grnhse_app"></div><script src="https://boards.greenhouse.io/embed/job_board/js?b=1&amp;for=acmeinc"></script>',
  ),
  lever: home(
    '<a href="https://jobs.lever.co/acme/3f2a-11">Engineer</a><a href="https://jobs.lever.co/acme">All</a>',
  ),
  ashby: home(
    '<script>window.__board = {"url":"https:\\/\\/jobs.ashbyhq.com\\/Acme%20Labs\\/embed"}</script>',
  ),
  smartrecruiters: home('<a href="https://careers.smartrecruiters.com/AcmeCorp1">Openings</a>'),
  recruitee: home('<iframe src="https://acme-jobs.recruitee.com/"></iframe>'),
}

export const ownPostings: Site = {
  '/': '<html><head><title>Acme</title></head><body><a href="/ueber">Über</a><a href="/karriere/">Karriere</a></body></html>',
  '/karriere/': `<html><head><title>Karriere</title><script type="application/ld+json">[
    {"@context":"https://schema.org","@type":"JobPosting","title":"Schweißer (m/w/d)","datePosted":"2026-11-02","employmentType":["FULL_TIME"],"url":"/karriere/schweisser",
     "jobLocation":{"@type":"Place","address":{"@type":"PostalAddress","addressLocality":"Ulm","addressCountry":"DE"}},"description":"<p>MIG und MAG</p>"},
    {"@type":"JobPosting","title":"Buchhalter","datePosted":"2026-11-10","jobLocationType":"TELECOMMUTE"},
    {"@type":"JobPosting"}]</script></head><body></body></html>`,
}
