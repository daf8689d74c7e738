"""`findings_table`: what the doctor found, as a table."""

import html

COLOURS = {
    "ok": "var(--jp-success-color0, #00704F)",
    "warn": "var(--jp-warn-color0, #8A6D00)",
    "error": "var(--jp-error-color0, #B3261E)",
}


def findings_table(findings):
    """HTML with a row for each finding: how it is, of what, what was found and what helps.

    Parameters
    ----------
    findings : iterable of Finding
        Of `dtnn.cluster.doctor.diagnose`.

    Examples
    --------
    >>> from dtnn.cluster.doctor import Finding
    >>> "no MPI → conda install mpich" in findings_table([Finding("MPI", "error", "no MPI", "conda install mpich")])
    True
    """
    rows = "".join(
        f'<tr><td style="color: {COLOURS[found.state]}">{found.state}</td><td>{html.escape(found.topic)}</td>'
        f"<td>{html.escape(found.text)}{' → ' + html.escape(found.remedy) if found.remedy else ''}</td></tr>"
        for found in findings
    )
    return f'<table class="dtnn-faint" style="text-align: left">{rows}</table>'
