#!/usr/bin/env python3
"""Writes for each movie the cluster whose centroid is the most similar to it, and the movie.

The file centroids has a movie for each cluster. Two movies are as similar as the cosine of the ratings of
users who rated both; its square is a fraction of integers, so the same cluster wins on every machine.
"""
import sys


def movie(line):
    number, _, ratings = line.rstrip().partition(":")
    return number, [(user, int(rating)) for user, rating in (item.split("_") for item in ratings.split(","))]


centroids = [dict(movie(line)[1]) for line in open("centroids")]
for line in sys.stdin:
    number, ratings = movie(line)
    best, best_product, best_norms = 0, 0, 1
    for cluster, centroid in enumerate(centroids):
        product = ours = theirs = 0
        for user, rating in ratings:
            other = centroid.get(user)
            if other:
                product += rating * other
                ours += rating * rating
                theirs += other * other
        if product**2 * best_norms > best_product**2 * ours * theirs:
            best, best_product, best_norms = cluster, product, ours * theirs
    print(f"{best}\t{number}")
