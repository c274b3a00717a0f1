// Command figures runs all measurements of the laboratory, in an order that fits a night, and writes the page that shows the
// figures of their tables beside their targets.
//
//	make figures                    all; started again, it goes on where it was ended
//	make figures FIGURES=-quick     each measurement that has a short form, without touching the pages
//	make figures FIGURES=-page      only the page, from the tables as they are
//
// Not part of it are what needs data from elsewhere (make starts, berth-lab memory), and make soak-table, which takes longer than a night.
//
// What is done for a commit is kept in bin/figures/COMMIT: results, one log and one mark for each measurement. Figures are
// read from the pages, so that none is in two places; figures.csv keeps the values of earlier measurements.
package main
